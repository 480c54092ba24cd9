// Batches of settlements and renewals: 100 lock tokens, retry pauses up to 5 s.
import type { Logger } from '../core/logger.ts'
import type { QuietLog } from '../core/quiet-log.ts'
import type { TraceContext } from '../core/telemetry/trace-context.ts'
import { backOff } from '../support/time/back-off.ts'
import { pause, type SteadyClock } from '../support/time/clock.ts'
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
  readonly log: QuietLog
  readonly logger: Logger
  readonly clock: SteadyClock
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
export function createSettler({ client, log, logger, clock }: SettlerOptions) {
  const queues = new Map<string, Queue>()
  const closing = new AbortController()
  let idle: PromiseWithResolvers<void> | undefined
  /** Settlements under way or waiting for their turn. */
  let settling = 0

  function enqueue(waiting: Waiting, operation: SettleOperation, delaySeconds = 0): void {
    const key = `${operation} ${delaySeconds}`
    const queue = queues.get(key) ?? { operation, delaySeconds, waiting: [], sending: false }
    queues.set(key, queue)
    queue.waiting.push(waiting)
    if (queue.sending) return
    queue.sending = true
    // Handlers that end in the same turn share the request.
    setImmediate(() => void drain(queue))
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
        logger.debug('settled', { operation, events: left.length, failed: answer.failed.size })
        for (const { lock, onEnd } of left) {
          const code = answer.failed.get(lock.lockToken)
          onEnd(code === undefined ? 'done' : { lost: code })
        }
        return
      }
      const { failure } = answer
      log.warn(`a request to ${operation} events failed`, { reason: failure.reason })
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
    settle(lock: HeldLock, { kind, delaySeconds }: Settlement, onEnd: (result: SettleResult) => void): void {
      settling++
      const onAnswer = (result: SettleResult) => {
        onEnd(result)
        settling--
        if (settling > 0) return
        idle?.resolve()
        idle = undefined
      }
      enqueue({ lock, onEnd: onAnswer }, kind, delaySeconds)
    },
    renew: (lock: HeldLock) => new Promise<SettleResult>((onEnd) => enqueue({ lock, onEnd }, 'renewLock')),
    /** Resolves when every settlement has ended. A renewal is not awaited. */
    async idle(): Promise<void> {
      if (settling === 0) return
      idle ??= Promise.withResolvers()
      await idle.promise
    },
    /** Ends what is still under way: every lock that waits is lost. */
    close: () => closing.abort(),
  }
}

/** Whether the same request may succeed later: no answer or an unreadable one, no token, too many requests, or a fault of the service. */
function mayPass({ status }: RequestFailure): boolean {
  return status === undefined || status === 200 || status === 401 || status === 408 || status === 429 || status >= 500
}
