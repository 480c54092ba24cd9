/** In which state an operation is, and with it the resource that the operation changes; what a client that asks is told. */
import { randomUUID } from 'node:crypto'
import { pause, systemClock, within } from '../../../../../src/support/time/clock.ts'
import type { Clock } from '../../model/time/clock.ts'
import type { WorkCounter } from '../../model/time/work-counter.ts'
import { dotNetTime } from '../../model/wording.ts'
import { refusals } from '../../server/unreadable-request.ts'
import { type ArmAnswer, type ArmCall, type ArmResources, resolveScope } from './call.ts'
import { ArmError, type ArmErrorDetail, armErrors } from './errors.ts'
import type { TargetOf } from './path.ts'

export type OperationResult =
  | { readonly status: 'Succeeded' }
  | { readonly status: 'Failed'; readonly error: ArmErrorDetail & { readonly details?: readonly ArmErrorDetail[] } }

export interface Operation {
  /** In upper case, as Azure writes it in URLs. */
  readonly id: string
  readonly subscriptionId: string
  /** Undefined while it runs. */
  readonly result: OperationResult | undefined
  /** The status while it runs, for a client that asks: `Active` is the answer to the first question only. */
  poll(): 'Active' | 'InProgress' | 'AwaitingManualAction'
  /** Whether it waits for a call of the validation URL. */
  readonly awaitsManualAction: boolean
  /** Resolves when it has ended. */
  readonly ended: Promise<void>
}

/** The message of an internal error, in Azure's words (reported failures of event subscriptions). */
export const internalMessage = (now: number): string =>
  `${refusals.internal.message} Please try again in few minutes. ` +
  `If error still persists, report ${randomUUID()}:${dotNetTime(now)} (UTC) ` +
  'to our forums for assistance or raise a support ticket.'

const maxOperations = 10_000

/** A change of a resource, for the time of its operation. */
export interface Change {
  /** The resource's id. */
  readonly id: string
  /** What its provisioning state is meanwhile. */
  readonly state: 'Creating' | 'Updating' | 'Deleting'
}

/** The states that an operation comes to, and its resource with it. */
export type ReachedState = 'AwaitingManualAction' | OperationResult['status']

/** How an operation waits. It is no work under way meanwhile. */
export interface OperationWaits {
  /** From now on it waits for a manual action. */
  park(): void
  /** Waits by the clock, or until the signal aborts or the emulator is closed. */
  delay(ms: number, signal: AbortSignal): Promise<void>
}

export type Operations = ReturnType<typeof createOperations>

/**
 * The operations under way and the last ones that ended. `delayMs`: how long each takes at least, by the clock. Delayed ones, and those
 * that wait for a manual action, do not count as work.
 */
export function createOperations(clock: Clock, delayMs: number, work: WorkCounter) {
  const operations = new Map<string, Operation>()
  /** The latest change of each resource that is under way. */
  const changes = new Map<string, Change>()
  const closing = new AbortController()

  return {
    /**
     * Starts an operation. `run` begins when the operation delay is over; its signal aborts on close.
     *
     * @param told.change what `stateOf` says of the resource meanwhile
     * @param told.reached is told each state that the operation comes to: for a resource that keeps its state
     */
    start(
      subscriptionId: string,
      run: (signal: AbortSignal, waits: OperationWaits) => Promise<OperationResult>,
      { change, reached }: { readonly change?: Change; readonly reached?: (state: ReachedState) => void } = {},
    ): Operation {
      const id = randomUUID().toUpperCase()
      const changed = change?.id.toLowerCase() ?? ''
      if (change) changes.set(changed, change)
      let isCounted = false
      let result: OperationResult | undefined
      let status: ReturnType<Operation['poll']> = 'Active'
      const begin = () => {
        isCounted = true
        work.begin()
      }
      const rest = () => {
        if (isCounted) work.end()
        isCounted = false
      }
      const park = () => {
        status = 'AwaitingManualAction'
        reached?.(status)
        rest()
      }
      const delay = async (ms: number, signal: AbortSignal) => {
        rest()
        await pause(clock, ms, AbortSignal.any([closing.signal, signal]))
        begin()
      }
      const carryOut = async () => {
        await (delayMs > 0 && pause(clock, delayMs, closing.signal))
        if (closing.signal.aborted) return
        if (delayMs > 0) begin()
        result = await run(closing.signal, { park, delay }).catch(
          (): OperationResult => ({
            status: 'Failed',
            error: { code: 'Internal error', message: internalMessage(clock.now()) },
          }),
        )
        reached?.(result.status)
      }
      if (delayMs <= 0) begin()
      const operation: Operation = {
        ...{ id, subscriptionId },
        ended: carryOut().finally(() => {
          if (changes.get(changed) === change) changes.delete(changed)
          rest()
        }),
        get result() {
          return result
        },
        get awaitsManualAction() {
          return status === 'AwaitingManualAction'
        },
        poll() {
          const answer = status
          if (status === 'Active') status = 'InProgress'
          return answer
        },
      }
      operations.set(id, operation)
      if (operations.size > maxOperations) {
        const [oldest] = operations.keys()
        if (oldest) operations.delete(oldest)
      }
      return operation
    },
    find: (id: string): Operation | undefined => operations.get(id.toUpperCase()),
    /** The state of a resource that is being changed; undefined for one at rest. */
    stateOf: (resourceId: string) => changes.get(resourceId.toLowerCase())?.state,
    /** Has those under way end soon. */
    close: () => closing.abort(),
  }
}

export async function answerOperation(
  options: ArmResources & { readonly operations: Operations; readonly statusHoldMs: number },
  call: ArmCall,
  target: TargetOf<'operation'>,
): Promise<ArmAnswer> {
  if (call.method !== 'GET') throw armErrors.methodNotAllowed(call.method, 'GET')
  const { azure } = resolveScope(options, call, target.scope, 'Microsoft.EventGrid/locations/operationsStatus/read')
  const operation = options.operations.find(target.id)
  if (!operation || operation.subscriptionId !== azure.id) throw armErrors.operationNotFound(target.id.slice(0, 100))
  await waitForEnd(operation, options.statusHoldMs)
  const { result } = operation
  if (target.form === 'operationResults') {
    if (result?.status === 'Failed') throw new ArmError(400, result.error.code, result.error.message)
    const { url, baseUrl } = call
    return result ? { status: 200 } : { status: 202, headers: { location: `${baseUrl}${url}` } }
  }
  return {
    status: 200,
    body: {
      id: `${call.baseUrl}${call.url}`,
      name: operation.id.toLowerCase(),
      ...(result ?? { status: operation.poll() }),
    },
  }
}

/** Waits for the operation's end, but at most `ms`. In real time, as the client polls in real time. */
async function waitForEnd(operation: Operation, ms: number): Promise<void> {
  if (operation.result !== undefined || operation.awaitsManualAction || ms <= 0) return
  await within(systemClock, ms, operation.ended)
}
