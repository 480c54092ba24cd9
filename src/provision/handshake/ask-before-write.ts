// Whether an event subscription that works may be written now: its endpoint consents twice in a row, or is not to be reached for 10 s.
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
  /** Nobody who reads it is ready before this write: the endpoint may begin to answer because of that very question. */
  readonly mayWait: boolean
  readonly onAnswer: (answer: EndpointAnswer) => void
  readonly limits: CallLimits
  readonly logger: Logger
  readonly clock: SteadyClock
}

/** How long an endpoint that gives no answer is asked, in ms. */
const patienceMs = 10_000

const pauseMs = 1_000

/** With less time left it is not asked again. */
const minAskMs = 250

/**
 * Asks until the endpoint has consented twice, a pause apart: the first consent may be that of a listener that is just going away, by a
 * balancer whose view is old. Resolves where it may be written, with what could not be reached, as a sentence.
 *
 * @throws ArmFailureError of kind `noConsent` where another answer comes; the reason of the signal
 */
export async function askBeforeWrite(options: AskBeforeWriteOptions): Promise<string | undefined> {
  const { endpoint, limits, clock, onAnswer, mayWait } = options
  const started = clock.elapsed()
  // Where little time is left the write needs some of it.
  const until = started + Math.min(patienceMs, (limits.deadline - started) / 2)
  let consents = 0
  let last: EndpointAnswer | undefined
  while (last === undefined || until - clock.elapsed() > minAskMs) {
    const left = Math.max(1, until - clock.elapsed())
    last = await withLimit({ clock, ms: left, signal: limits.signal }, endpoint.ask)
    limits.signal.throwIfAborted()
    onAnswer(last)
    if (last.kind === 'emulated') return undefined
    if (last.kind === 'refusal' && !mayWait) throw refusedBy(last.refusal, options)
    if (last.kind !== 'consent') consents = 0
    else if (!last.byWaiting && ++consents > 1) return undefined
    await pause(clock, Math.min(pauseMs, Math.max(0, until - clock.elapsed())), limits.signal)
    limits.signal.throwIfAborted()
  }
  if (last.kind === 'refusal') throw refusedBy(last.refusal, options)
  return last.kind === 'silence' ? unreached(last.why, options) : undefined
}

function refusedBy(
  { answer, what, fix }: Extract<EndpointAnswer, { kind: 'refusal' }>['refusal'],
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
