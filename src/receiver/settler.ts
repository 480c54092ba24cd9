import type { TraceContext } from '../core/trace-context.ts'
import { backOff } from '../support/back-off.ts'
import { pause, type SteadyClock } from '../support/clock.ts'
import type { Settlement } from './decide-settlement.ts'
import type { NamespaceClient, RequestFailure, SettleOperation } from './namespace-client.ts'

/** A lock, as long as it lasts. */
export interface HeldLock {
  readonly lockToken: string
  /** The trace context that its event brings. */
  readonly origin: TraceContext | undefined
  /** When the lock ends, in milliseconds of `elapsed`. A renewal moves it. */
  expiresAt: number
}

/** What became of a lock token. */
export type SettleResult = 'done' | { readonly lost: string }

export interface SettlerOptions {
  readonly client: Pick<NamespaceClient, 'settle'>
  readonly clock: SteadyClock
  /** Called after each request that was answered: how many lock tokens it had, and how many of them failed. */
  readonly onSettled: (operation: SettleOperation, events: number, failed: number) => void
  /** Called after each request that failed. */
  readonly onFailure: (operation: SettleOperation, failure: RequestFailure) => void
}

interface Waiting {
  readonly lock: HeldLock
  readonly onEnd: (result: SettleResult) => void
}

interface Queue {
  readonly operation: SettleOperation
  readonly delaySeconds: number
  waiting: Waiting[]
  sending: boolean
}

/** Lock tokens of one request. */
const maxTokens = 100
const firstPauseMs = 200
const maxPauseMs = 5_000

/** Settles and renews locks: those of one kind that come together share a request. */
export function createSettler({ client, clock, onSettled, onFailure }: SettlerOptions) {
  const queues = new Map<string, Queue>()
  const closing = new AbortController()
  const idleListeners: (() => void)[] = []
  /** Settlements under way or waiting for their turn. */
  let settling = 0

  function queueOf(operation: SettleOperation, delaySeconds: number): Queue {
    const key = delaySeconds === 0 ? operation : `${operation} ${delaySeconds}`
    const known = queues.get(key)
    if (known) return known
    const queue = { operation, delaySeconds, waiting: [], sending: false }
    queues.set(key, queue)
    return queue
  }

  function enqueue(waiting: Waiting, queue: Queue): void {
    queue.waiting.push(waiting)
    if (queue.sending) return
    queue.sending = true
    // Handlers that end in the same turn share the request.
    setImmediate(() => void drain(queue))
  }

  function settled(): void {
    settling--
    if (settling === 0) for (const tell of idleListeners.splice(0)) tell()
  }

  async function drain(queue: Queue): Promise<void> {
    while (queue.waiting.length > 0) await send(queue, queue.waiting.splice(0, maxTokens))
    queue.sending = false
  }

  /** Sends one request, and again while it fails for a reason that may pass and a lock holds. */
  async function send({ operation, delaySeconds }: Queue, batch: Waiting[]): Promise<void> {
    let left = batch
    for (let attempt = 1; left.length > 0; attempt++) {
      const lockTokens = left.map(({ lock }) => lock.lockToken)
      const origins = left.flatMap(({ lock }) => lock.origin ?? [])
      const answer = await client.settle({ operation, lockTokens, origins, delaySeconds, signal: closing.signal })
      if ('failed' in answer) {
        onSettled(operation, left.length, answer.failed.length)
        const codes = new Map(answer.failed.map(({ lockToken, code }) => [lockToken, code]))
        for (const waiting of left) {
          const code = codes.get(waiting.lock.lockToken)
          waiting.onEnd(code === undefined ? 'done' : { lost: code })
        }
        return
      }
      const { failure } = answer
      onFailure(operation, failure)
      const waitMs = Math.max(
        failure.retryAfterMs ?? 0,
        backOff({ attempt, baseMs: firstPauseMs, maxMs: maxPauseMs, random: Math.random() }),
      )
      const isOver = closing.signal.aborted || !mayPass(failure)
      const resumesAt = clock.elapsed() + waitMs
      for (const waiting of left) {
        if (isOver || waiting.lock.expiresAt <= resumesAt) waiting.onEnd({ lost: failure.reason })
      }
      left = isOver ? [] : left.filter(({ lock }) => lock.expiresAt > resumesAt)
      if (left.length > 0) await pause(clock, waitMs, closing.signal)
    }
  }

  return {
    /** Calls `onEnd` once, later. */
    settle(lock: HeldLock, settlement: Settlement, onEnd: (result: SettleResult) => void): void {
      const delaySeconds = settlement.kind === 'release' ? settlement.delaySeconds : 0
      settling++
      const onAnswer = (result: SettleResult) => {
        onEnd(result)
        settled()
      }
      enqueue({ lock, onEnd: onAnswer }, queueOf(settlement.kind, delaySeconds))
    },
    renew: (lock: HeldLock) => new Promise<SettleResult>((onEnd) => enqueue({ lock, onEnd }, queueOf('renewLock', 0))),
    /** Resolves when every settlement has ended. A renewal is not awaited. */
    idle: () =>
      new Promise<void>((resolve) => {
        if (settling === 0) resolve()
        else idleListeners.push(resolve)
      }),
    /** Ends what is still under way: every lock that waits is lost. */
    close: () => closing.abort(),
  }
}

/** Whether the same request may succeed later: no answer or an unreadable one, no token, too many requests, or a fault of the service. */
function mayPass({ status }: RequestFailure): boolean {
  return status === undefined || status === 200 || status === 401 || status === 408 || status === 429 || status >= 500
}
