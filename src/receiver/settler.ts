/** Settlements and renewals of locks: joined per request, tried again while the lock holds, never held up by one that fails. */
import type { Logger, QuietLog } from '../core/logger.ts'
import type { TraceContext } from '../core/telemetry.ts'
import type { EventOutcome } from '../dispatch/delivery.ts'
import { nameOf } from '../support/process/error-code.ts'
import { pause, realTimers, type SteadyClock, within } from '../support/time/clock.ts'
import { inBackground, retryPause } from '../support/work/work.ts'
import { type NamespaceClient, type RequestFailure, type SettleOperation, unconfirmed } from './namespace-client.ts'

/** A lock, as long as it lasts. */
export interface HeldLock {
  readonly lockToken: string
  /** The trace context that its event brings. */
  readonly origin: TraceContext | undefined
  /** When the lock ends, in milliseconds of `elapsed`. A renewal moves the end. */
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
  /** Requests that had the lock in them. */
  tries: number
}

interface Queue {
  readonly operation: SettleOperation
  readonly delaySeconds: number
  waiting: Waiting[]
  sending: boolean
}

/** Lock tokens of one request. */
const maxTokens = 100
const pace = { baseMs: 200, maxMs: 5_000, maxAskedMs: Number.POSITIVE_INFINITY }
/** What waits shares the next request, but does not wait longer than this for an answer to the last one. */
const patienceMs = 1_000
/** Codes of a token that could not be settled now: the namespace's, and ours. All other codes say that the lock is lost. */
const mayPassCodes: readonly (string | undefined)[] = ['InternalServerError', unconfirmed]

/** Settles and renews locks: calls of one kind that come together share a request. */
export function createSettler({ client, log, logger, clock }: SettlerOptions) {
  const queues: Queue[] = []
  const closing = new AbortController()
  let idle: PromiseWithResolvers<void> | undefined
  /** Settlements under way or waiting for their turn. */
  let settling = 0

  function queueOf(operation: SettleOperation, delaySeconds = 0): Queue {
    const known = queues.find((queue) => queue.operation === operation && queue.delaySeconds === delaySeconds)
    if (known) return known
    const queue: Queue = { operation, delaySeconds, waiting: [], sending: false }
    queues.push(queue)
    return queue
  }

  function enqueue(queue: Queue, waiting: Waiting): void {
    queue.waiting.push(waiting)
    if (queue.sending) return
    queue.sending = true
    // Handlers that end in the same turn share the request.
    realTimers.setImmediate(() => inBackground(drain(queue), unexpected))
  }

  async function drain(queue: Queue): Promise<void> {
    while (queue.waiting.length > 0) {
      await within(clock, patienceMs, send(queue, queue.waiting.splice(0, maxTokens)))
    }
    queue.sending = false
  }

  const unexpected = (error: unknown) =>
    logger.error(`events could not be settled: an unexpected error (${nameOf(error)})`)

  /** Sends one request, and ends the calls that are settled or lost. Tries again what may pass, while the lock holds. Never rejects. */
  async function send(queue: Queue, batch: readonly Waiting[]): Promise<void> {
    const { operation, delaySeconds } = queue
    const lockTokens = batch.map(({ lock }) => lock.lockToken)
    const origins = batch.flatMap(({ lock }) => lock.origin ?? [])
    const answer = await client.settle({ operation, lockTokens, origins, delaySeconds, signal: closing.signal })
    const failure = 'failure' in answer ? answer.failure : undefined
    const failed = 'failed' in answer ? answer.failed : undefined
    if (failure) log.warn(`a request to ${operation} events failed`, { reason: failure.reason })
    else logger.debug('settled', { operation, events: batch.length, failed: failed?.size ?? 0 })
    // Calls that failed equally often wait equally long, and share the next request too.
    const random = Math.random()
    for (const waiting of batch) {
      const { lock, onEnd } = waiting
      waiting.tries++
      const reason = failure?.reason ?? failed?.get(lock.lockToken)
      const canPass = failure ? mayPass(failure) : mayPassCodes.includes(reason)
      const leftMs = lock.expiresAt - clock.elapsed()
      const tried = { attempt: waiting.tries, retryAfterMs: failure?.retryAfterMs, leftMs, random }
      const waitMs = canPass && !closing.signal.aborted ? retryPause(tried, pace) : undefined
      if (reason !== undefined && waitMs !== undefined) {
        const resumed = pause(clock, waitMs, closing.signal).then(() => enqueue(queue, waiting))
        inBackground(resumed, unexpected)
        continue
      }
      if (operation !== 'renewLock') settling--
      onEnd(reason === undefined ? 'done' : { lost: reason })
    }
    if (settling === 0) {
      idle?.resolve()
      idle = undefined
    }
  }

  return {
    /** Settles an event. Calls `onEnd` once, later. */
    settle(lock: HeldLock, { kind, delaySeconds }: Settlement, onEnd: (result: SettleResult) => void): void {
      settling++
      enqueue(queueOf(kind, delaySeconds), { lock, onEnd, tries: 0 })
    },
    renew: (lock: HeldLock) =>
      new Promise<SettleResult>((onEnd) => enqueue(queueOf('renewLock'), { lock, onEnd, tries: 0 })),
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

/** How an event is settled with the namespace. */
export interface Settlement {
  readonly kind: Exclude<SettleOperation, 'renewLock'>
  /** After a release the event is not delivered for so long. @default 0 */
  readonly delaySeconds?: number
}

/** Delays of a release that Event Grid takes, in seconds (namespaces, data plane 2024-06-01), by the broker's delivery count, from 1. */
const delays = [0, 10, 60, 600]
/** The pause of every higher count. */
const lastDelay = 3600

/**
 * Decides how an event is settled: resolved is acknowledged, rejected (or not an event at all) is rejected, all else is
 * released and redelivered. An event that no handler was called for is redelivered at once.
 *
 * @param deliveryCount the broker's count, from 1
 */
export function decideSettlement(outcome: EventOutcome, deliveryCount: number): Settlement {
  if (outcome === 'resolved') return { kind: 'acknowledge' }
  if (outcome === 'rejected' || outcome === 'invalid') return { kind: 'reject' }
  if (outcome === 'notTried') return { kind: 'release' }
  return { kind: 'release', delaySeconds: delays[Math.max(deliveryCount, 1) - 1] ?? lastDelay }
}
