import { type ArmAnswer, type ArmCall, type ArmResources, resolveScope } from './call.ts'
import { ArmError, armErrors } from './errors.ts'
import type { Operation, Operations } from './operations.ts'
import type { TargetOf } from './path.ts'

export interface OperationStatusOptions extends ArmResources {
  readonly operations: Operations
  /**
   * How long the answer about a running operation may be delayed, in real milliseconds, so that a client that polls
   * every 2 s learns of the end at once.
   */
  readonly statusHoldMs: number
}

export async function answerOperation(
  options: OperationStatusOptions,
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
      id: `${call.baseUrl.replace(/:443$/, '')}${call.url}`,
      name: operation.id.toLowerCase(),
      ...(result ?? { status: operation.awaitsManualAction ? 'AwaitingManualAction' : 'InProgress' }),
    },
  }
}

/** Waits for the operation's end, but at most `ms`. In real time, as the client polls in real time. */
async function waitForEnd(operation: Operation, ms: number): Promise<void> {
  if (operation.result !== undefined || operation.awaitsManualAction || ms <= 0) return
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms)
  })
  await Promise.race([operation.ended, timeout])
  clearTimeout(timer)
}
