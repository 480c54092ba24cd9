/** Sends one request, and decides after a failure: once more, in halves, or not. */
import type { BindingError } from '../core/errors.ts'
import type { LogFields, Logger } from '../core/logger.ts'
import { hasTelemetry } from '../core/telemetry.ts'
import { pause, type SteadyClock } from '../support/time/clock.ts'
import { retryPause } from '../support/work/work.ts'
import type { WireEvent } from './events.ts'
import type { PublishCall, SendOutcome } from './queue.ts'
import { decideRetry, type FailedRequest, type TopicAnswer, unanswered } from './rejection.ts'
import type { PublishTracing } from './telemetry.ts'
import type { TopicClient } from './topic.ts'

/** The bounds of attempts, in ms; `publisherDefaults` says what each is. */
export type AttemptLimits = Readonly<
  Record<'attemptTimeoutMs' | 'noSuchHostTimeoutMs' | 'retryBaseMs' | 'retryCapMs' | 'retryAfterCapMs', number>
>

export interface SenderOptions {
  readonly client: TopicClient
  readonly tracing: Pick<PublishTracing, 'request'>
  readonly limits: AttemptLimits
  readonly clock: SteadyClock
  readonly logger: Logger
  readonly random: () => number
  readonly signal: AbortSignal
  readonly explain: (call: PublishCall, failure: FailedRequest) => BindingError
}

type AttemptOutcome = SendOutcome | { readonly pauseMs: number }

/** Sends calls, and sends a call again after a failure that may pass. */
export function createSender(options: SenderOptions) {
  const { client, tracing, limits, clock, logger, random, signal, explain } = options
  let lastFailure: string | undefined
  let backingOff = 0

  /** Sends the next request of each call together. */
  function sendOnce(calls: readonly PublishCall[], first: PublishCall): Promise<TopicAnswer> {
    const left = Math.max(...calls.map(({ deadline }) => deadline)) - clock.elapsed()
    const events = calls.flatMap(nextEvents)
    for (const call of calls) call.attempts += 1
    const send = () => client.send(first.schema, events, Math.max(0, Math.min(limits.attemptTimeoutMs, left)))
    return hasTelemetry() ? tracing.request(calls, events.length, send) : send()
  }

  function accepted(calls: readonly PublishCall[], requestId: string | undefined): void {
    lastFailure = undefined
    for (const call of calls) {
      call.lastFailure = undefined
      call.attempts = 0
      call.done.requests += 1
      if (requestId !== undefined) call.done.requestIds.push(requestId)
      if (call.done.requests === call.requests.length) call.resolve()
    }
  }

  /** Decides what follows from a failure; rejects the calls that gain nothing by another attempt. */
  function failed(calls: readonly PublishCall[], first: PublishCall, answer: FailedRequest): AttemptOutcome {
    const { attempts } = first
    const verdict = decideRetry(answer)
    const fields = logFields(calls, answer)
    if (verdict === 'split' && calls.length > 1) {
      // The refusal may be for the events of another call.
      for (const call of calls) call.attempts -= 1
      logger.debug('a joint request was refused; sending its halves', { ...fields, calls: calls.length })
      return 'halve'
    }
    for (const call of calls) call.lastFailure = answer
    if (verdict !== 'split') lastFailure = explain(first, answer).message
    if (verdict !== 'retry') {
      for (const call of calls) call.reject(explain(call, answer))
      return 'settled'
    }
    const { retryAfterMs } = 'retryAfterMs' in answer ? answer : {}
    const leftMs = Math.max(...calls.map((call) => giveUpAt(call, answer, limits))) - clock.elapsed()
    const pace = { baseMs: limits.retryBaseMs, maxMs: limits.retryCapMs, maxAskedMs: limits.retryAfterCapMs }
    const pauseMs = retryPause({ attempt: attempts, retryAfterMs, leftMs, random: random() }, pace)
    const until = pauseMs === undefined ? Number.POSITIVE_INFINITY : clock.elapsed() + pauseMs
    for (const call of calls) if (giveUpAt(call, answer, limits) <= until) call.reject(explain(call, answer))
    if (pauseMs === undefined || calls.every(({ settled }) => settled)) return 'settled'
    logger.warn('the topic did not accept a request; sending it again', {
      ...fields,
      attempts,
      delayMs: Math.floor(pauseMs),
    })
    return { pauseMs }
  }

  return {
    /** Sends calls together in one request, or a single call in all of its requests, one after the other. Never rejects. */
    async send(calls: readonly PublishCall[]): Promise<SendOutcome> {
      for (;;) {
        const open = calls.filter(({ settled }) => !settled)
        const [first] = open
        if (!first || signal.aborted) return 'settled'
        const answer = await sendOnce(open, first)
        if (answer.kind === 'accepted') {
          accepted(open, answer.requestId)
          continue
        }
        if (signal.aborted) return 'settled'
        const outcome = failed(open, first, answer)
        if (typeof outcome === 'string') return outcome
        backingOff += 1
        await pause(clock, outcome.pauseMs, signal)
        backingOff -= 1
      }
    },
    /** Whether a request waits for its next attempt. */
    isBackingOff: () => backingOff > 0,
    /** Why the last request failed for a reason unrelated to its events; `undefined` after an accepted one. */
    lastFailure: () => lastFailure,
  }
}

/** Why a call fails that ends now: by the last attempt that failed, or because there is no answer yet. */
export const failureNow = ({ attempts, lastFailure }: PublishCall, waitedMs: number): FailedRequest =>
  lastFailure ??
  unanswered(
    attempts > 0
      ? `no answer in ${waitedMs} ms`
      : `nothing was sent in ${waitedMs} ms, as earlier requests were not done`,
  )

const nextEvents = ({ requests, done }: PublishCall): readonly WireEvent[] => requests[done.requests] ?? []

/** When a call gains nothing by another attempt. A host name that does not exist rarely comes to exist within a minute. */
function giveUpAt(call: PublishCall, answer: TopicAnswer, limits: AttemptLimits): number {
  const noSuchHost = answer.kind === 'unreachable' && answer.noSuchHost
  return noSuchHost ? Math.min(call.deadline, call.startedAt + limits.noSuchHostTimeoutMs) : call.deadline
}

function logFields(calls: readonly PublishCall[], answer: FailedRequest): LogFields {
  const events = calls.flatMap(nextEvents).length
  const reason = answer.kind === 'answered' ? answer.message : answer.reason
  return { reason, events, ...('status' in answer && { status: answer.status }) }
}
