import type { Logger } from '../core/logger.ts'
import { pause, type SteadyClock } from '../support/clock.ts'
import type { PublisherLimits } from './limits.ts'
import type { PublishCall } from './publish-call.ts'
import type { SendOutcome } from './request-queue.ts'
import { retryDelay } from './retry-delay.ts'
import type { WireEvent } from './to-events.ts'
import { judgeAnswer, type TopicAnswer } from './topic-answer.ts'
import type { TopicClient } from './topic-client.ts'

/** An answer that was no success, and the attempts it took to get it. */
export type FailedAnswer = NonNullable<PublishCall['lastFailure']>

/** What {@link createSender} needs. */
export interface SenderOptions {
  readonly client: TopicClient
  readonly limits: PublisherLimits
  readonly clock: SteadyClock
  readonly logger: Logger
  readonly random: () => number
  /** Ends requests and waits at once. */
  readonly signal: AbortSignal
  /** The topic took a request. */
  readonly onTaken: () => void
  /** The topic took a request not, for a reason that lies not in its events. */
  readonly onTrouble: (call: PublishCall, failure: FailedAnswer) => void
  /** Rejects a call. */
  readonly fail: (call: PublishCall, failure: FailedAnswer) => void
}

type AttemptsOutcome = SendOutcome | 'taken'

/** Makes what sends calls and sends them again. */
export function createSender(options: SenderOptions) {
  const { client, limits, clock, logger, random, signal, onTaken, onTrouble, fail } = options

  const attempt = async (calls: readonly PublishCall[], events: readonly WireEvent[]): Promise<TopicAnswer> => {
    const [first] = calls
    if (!first) return { kind: 'accepted', requestId: undefined }
    const ending = new AbortController()
    const end = () => ending.abort()
    const left = Math.max(...calls.map(({ deadline }) => deadline)) - clock.elapsed()
    const callOff = clock.setTimer(Math.max(0, Math.min(limits.attemptTimeoutMs, left)), end)
    // AbortSignal.any would keep each request in memory, body and all, for as long as the publisher lives: a listener on a signal that lasts keeps what is joined with it.
    signal.addEventListener('abort', end, { once: true })
    try {
      return await client.send(first.schema, events, ending.signal)
    } finally {
      callOff()
      signal.removeEventListener('abort', end)
    }
  }

  /** Sends one request of each call together until it is taken, refused, or out of time. */
  const sendRequests = async (
    calls: readonly PublishCall[],
    onBackOff: (waits: boolean) => void,
  ): Promise<AttemptsOutcome> => {
    let live = calls
    for (let attempts = 1; ; attempts++) {
      live = live.filter(({ abandoned }) => !abandoned)
      const [first] = live
      if (!first || signal.aborted) return 'settled'
      const events = live.flatMap(({ requests, done }) => requests[done.requests] ?? [])
      const answer = await attempt(live, events)
      if (answer.kind === 'accepted') {
        onTaken()
        for (const { done } of live) {
          done.requests += 1
          if (answer.requestId !== undefined) done.requestIds.push(answer.requestId)
        }
        return 'taken'
      }
      if (signal.aborted) return 'settled'
      const failure: FailedAnswer = { answer, attempts }
      for (const call of live) call.lastFailure = failure
      const verdict = judgeAnswer(answer)
      const fields = { reason: answer.kind === 'answered' ? answer.message : answer.reason, events: events.length }
      const status = answer.kind === 'answered' ? { status: answer.status } : {}
      if (verdict === 'split') {
        if (live.length > 1) {
          logger.debug('a joint request was refused and is halved', { ...fields, ...status, calls: live.length })
          return 'halve'
        }
        fail(first, failure)
        return 'settled'
      }
      onTrouble(first, failure)
      if (verdict !== 'retry') {
        for (const call of live) fail(call, failure)
        return 'settled'
      }
      const retryAfterMs = 'retryAfterMs' in answer ? answer.retryAfterMs : undefined
      const delayMs = retryDelay({ ...limits, attempt: attempts, retryAfterMs, random })
      const until = clock.elapsed() + delayMs
      // A call whose time ends before the next attempt gains nothing by waiting for it.
      for (const call of live.filter(({ deadline }) => deadline <= until)) {
        call.abandoned = true
        fail(call, failure)
      }
      if (live.every(({ abandoned }) => abandoned)) return 'settled'
      logger.warn('the topic did not take a request, which is sent again', { ...fields, ...status, attempts, delayMs })
      onBackOff(true)
      await pause(clock, delayMs, signal)
      onBackOff(false)
    }
  }

  return {
    /** Sends calls together in one request, or a single call in all of its requests, one after the other. Never rejects. */
    async send(calls: readonly PublishCall[], onBackOff: (waits: boolean) => void): Promise<SendOutcome> {
      const rounds = Math.max(0, ...calls.map(({ requests }) => requests.length))
      for (let round = 0; round < rounds; round++) {
        const outcome = await sendRequests(calls, onBackOff)
        if (outcome !== 'taken') return outcome
      }
      for (const call of calls) if (call.done.requests === call.requests.length) call.resolve()
      return 'settled'
    },
  }
}
