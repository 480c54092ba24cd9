/** Whether an event subscription that works may be written now: its endpoint, asked as Event Grid will ask it, consents twice in a row. */

import { randomUUID } from 'node:crypto'
import { proxyOf } from '../azure/proxy.ts'
import { ArmFailureError } from '../azure/read-failure.ts'
import { secureContextOf } from '../azure/trust.ts'
import type { Endpoints } from '../core/endpoints.ts'
import type { Logger } from '../core/logger.ts'
import { showUrl } from '../metadata/fields/redact.ts'
import type { InputMetadata } from '../metadata/typed/metadata.ts'
import { isLoopback } from '../support/net/hosts.ts'
import { type Probe, probe, type Target, targetsOf } from '../support/net/probe.ts'
import { codeOf } from '../support/process/error-code.ts'
import { pause, type SteadyClock, systemClock, within, withLimit } from '../support/time/clock.ts'
import type { CallLimits } from './arm.ts'
import {
  type HandshakeRefusal,
  notReadyHeader,
  optionsRequest,
  refusalOfOptions,
  refusalOfValidation,
  validationRequest,
} from './handshake.ts'

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

/** What became of the question. Holds no secret. */
export type EndpointAnswer =
  /** `byWaiting`: by a replica of this binding that is not ready itself, so nothing shows that another one serves. */
  | { readonly kind: 'consent'; readonly byWaiting: boolean }
  | { readonly kind: 'refusal'; readonly refusal: HandshakeRefusal }
  /**
   * Nothing answered, which is no evidence unless the endpoint has answered before: a pod may not reach its own public address. `why` is
   * a clause.
   */
  | { readonly kind: 'silence'; readonly why: string; readonly hasAnswered: boolean }
  /** An emulator serves this name by its ingress, and DNS does not know it: there is nobody to ask. */
  | { readonly kind: 'emulated' }

/** The endpoint of a web hook, as it can be asked. */
export interface AskedEndpoint {
  /** Its URL without what is secret. */
  readonly shown: string
  /** Never rejects. */
  readonly ask: (signal: AbortSignal) => Promise<EndpointAnswer>
}

/** Whether it is known that somebody who takes deliveries answers for the endpoint. */
export const isServed = (answer: EndpointAnswer): boolean => answer.kind === 'consent' && !answer.byWaiting

/** How long an emulator's user waits for DNS, which need not know the names of an ingress. */
const emulatedLookUpMs = 1_000

export interface EndpointQuestion {
  readonly input: InputMetadata
  readonly endpoints: Endpoints
  /** Base URL of Azure Resource Manager. */
  readonly resourceManager: string
}

/**
 * Makes the question, which is that of the schema that will be written. With `CloudEventSchemaV1_0` Event Grid asks by OPTIONS alone. With
 * `EventGridSchema` it posts a validation event and never sends OPTIONS; so an endpoint that consents to OPTIONS says nothing about it,
 * and the same event is posted here. That does no harm: who serves the handshake gives the code back, and no application sees it.
 */
export function createEndpointQuestion({ input, endpoints, resourceManager }: EndpointQuestion): AskedEndpoint {
  const url = new URL(input.subscriberEndpoint)
  const isLocal = isLoopback(new URL(resourceManager).hostname)

  async function isEmulated(): Promise<boolean> {
    if (isLoopback(url.hostname) || !(isLocal || endpoints.topics !== undefined)) return false
    let found: readonly Target[] | undefined
    const lookUp = targetsOf(url).then(
      (targets) => {
        found = targets
      },
      () => {},
    )
    await within(systemClock, emulatedLookUpMs, lookUp)
    // What the name means elsewhere is no matter, where the emulator on this machine sends it on.
    return !found || (isLocal && !found.some(({ address }) => isLoopback(address)))
  }

  async function answerOf(signal: AbortSignal): Promise<EndpointAnswer> {
    const code = randomUUID()
    const isEventGridSchema = input.settings.eventDeliverySchema === 'EventGridSchema'
    const request = isEventGridSchema ? validationRequest(input, code) : optionsRequest(input)
    const proxy = isLoopback(url.hostname) ? undefined : proxyOf(url.href)
    const targets: readonly Probe['target'][] = proxy ? [{ proxy }] : await targetsOf(url)
    const answer = await firstAnswer(targets, {
      url,
      signal,
      secureContext: secureContextOf(endpoints),
      ...request,
    })
    const refusal = isEventGridSchema ? refusalOfValidation(answer, code, input) : refusalOfOptions(answer, input)
    if (refusal) return { kind: 'refusal', refusal }
    return { kind: 'consent', byWaiting: answer.headers[notReadyHeader] !== undefined }
  }

  let hasAnswered = false
  return {
    shown: showUrl(input.subscriberEndpoint),
    async ask(signal) {
      if (await isEmulated()) return { kind: 'emulated' }
      try {
        const answer = await answerOf(signal)
        hasAnswered = true
        return answer
      } catch (error) {
        return { kind: 'silence', why: reasonOf(error), hasAnswered }
      }
    },
  }
}

/** The answer of the first address that gives one. Rejects with the error of the first where none does. */
async function firstAnswer(targets: readonly Probe['target'][], request: Omit<Probe, 'target'>) {
  let first: unknown
  for (const target of targets) {
    try {
      return await probe({ ...request, target })
    } catch (error) {
      first ??= error
      if (request.signal.aborted) break
    }
  }
  throw first ?? new Error('the name has no address')
}

function reasonOf(error: unknown): string {
  if (error instanceof Error && (error.name === 'TimeoutError' || error.name === 'AbortError'))
    return 'no answer in time'
  return codeOf(error) ?? 'no answer'
}
