/** Whether an event subscription that works may be written now: its endpoint consents twice in a row, or was not to be reached for 10 s. */
import { ArmFailureError } from '../../azure/read-failure.ts'
import type { Logger } from '../../core/logger.ts'
import { pause, type SteadyClock, withLimit } from '../../support/time/clock.ts'
import type { CallLimits } from '../arm/call-limits.ts'
import type { AskedEndpoint, EndpointAnswer } from './ask-endpoint.ts'

export interface AskBeforeWriteOptions {
  readonly endpoint: AskedEndpoint
  readonly eventSubscriptionName: string
  /** What would be written, as a clause. */
  readonly because: string
  /** Nobody who reads it was ready before: the endpoint may begin to answer because of that very question, a moment later. */
  readonly mayWait: boolean
  readonly onAnswer: (answer: EndpointAnswer) => void
  /** Called with each answer that the write waits for, in words: log and health tell of it at once. */
  readonly onWait: (why: string) => void
  /** The time that all attempts have, in ms. Half of it is the longest that the endpoint is asked. */
  readonly timeoutMs: number
  readonly limits: CallLimits
  readonly logger: Logger
  readonly clock: SteadyClock
}

/** How long an endpoint that gives no answer is asked, in ms. With less time left silence is no evidence. */
const patienceMs = 10_000

/** How long one question waits for its answer, in ms. */
const questionMs = 4_000

const pauseMs = 1_000

/** With less time left it is not asked again. */
const minAskMs = 250

/** One question, bounded in time. */
export const askOnce = (endpoint: AskedEndpoint, clock: SteadyClock, signal: AbortSignal, ms = questionMs) =>
  withLimit({ clock, ms: Math.min(ms, questionMs), signal }, endpoint.ask)

/**
 * Asks until the endpoint has consented twice, a pause apart: the first consent may be that of a listener that is just going away, by a
 * balancer whose view is old. Resolves where it may be written, with what could not be reached, as a sentence.
 *
 * @throws ArmFailureError of kind `noConsent` where another answer comes, or none any more; `deadline` where too
 *   little time is left to know; the reason of the signal
 */
export async function askBeforeWrite(options: AskBeforeWriteOptions): Promise<string | undefined> {
  const { endpoint, limits, clock, mayWait, onAnswer, onWait, timeoutMs } = options
  const over = clock.elapsed() + Math.min(patienceMs, timeoutMs / 2)
  const until = Math.min(over, limits.deadline)
  let consents = 0
  let last: EndpointAnswer | undefined
  while (last === undefined || until - clock.elapsed() > minAskMs) {
    last = await askOnce(endpoint, clock, limits.signal, Math.max(1, until - clock.elapsed()))
    limits.signal.throwIfAborted()
    onAnswer(last)
    if (last.kind === 'emulated') return undefined
    if (last.kind === 'refusal' && !mayWait) throw refusedBy(last.refusal, options)
    if (last.kind === 'consent') {
      if (!last.byWaiting && ++consents > 1) return undefined
    } else {
      consents = 0
      onWait(waiting(last, options))
    }
    await pause(clock, Math.min(pauseMs, Math.max(0, until - clock.elapsed())), limits.signal)
    limits.signal.throwIfAborted()
  }
  if (last.kind === 'refusal') throw refusedBy(last.refusal, options)
  if (until < over) {
    const message = `too little time was left to ask ${endpoint.shown} whether it answers the handshake`
    throw new ArmFailureError({ kind: 'deadline', message })
  }
  if (last.kind === 'silence' && last.hasAnswered) throw refusedBy(silent(last.why, options), options)
  return last.kind === 'silence' ? unreached(last.why, options) : undefined
}

/** What the endpoint answered, while a write waits. Without a remedy: it may be over in a moment. */
function waiting(
  answer: Extract<EndpointAnswer, { kind: 'refusal' | 'silence' }>,
  { endpoint, because }: AskBeforeWriteOptions,
): string {
  const said = answer.kind === 'refusal' ? answer.refusal.what : `${endpoint.shown} gives no answer (${answer.why})`
  return `${said}; nothing is written yet, and it is asked again (${because})`
}

const silent = (why: string, { endpoint }: AskBeforeWriteOptions) => ({
  what: `the handshake with ${endpoint.shown} failed: the endpoint gives no answer now (${why}), and has answered before`,
  fix: 'see what became of the endpoint; where it cannot be reached from here any more, start the binding again',
})

function refusedBy(
  { answer, what, fix }: { readonly answer?: string; readonly what: string; readonly fix: string },
  { because, eventSubscriptionName: name }: AskBeforeWriteOptions,
): ArmFailureError {
  const message =
    `${what}; so nothing is written: deliveries go on by the present settings of the event subscription ${name}, and the change waits ` +
    `for the endpoint (${because})`
  return new ArmFailureError({ kind: 'noConsent', message, fix, answer })
}

function unreached(why: string, { endpoint, eventSubscriptionName: name, logger }: AskBeforeWriteOptions) {
  const warning =
    `${endpoint.shown} could not be reached from here (${why}), so it is not known whether the endpoint answers the handshake; ` +
    `the event subscription ${name} is written all the same`
  logger.warn(warning)
  return warning
}
