/** Asks the endpoint at its public URL as Event Grid will ask it: consent, another answer, no answer; or it can't be asked from here. */
import { randomUUID } from 'node:crypto'
import { proxyOf } from '../../azure/proxy.ts'
import { secureContextOf } from '../../azure/trust.ts'
import type { Endpoints } from '../../core/endpoints.ts'
import { showUrl } from '../../metadata/fields/redact.ts'
import type { InputMetadata } from '../../metadata/typed/metadata.ts'
import { isLoopback } from '../../support/net/loopback.ts'
import { type Probe, probe, type Target, targetsOf } from '../../support/net/probe.ts'
import { codeOf } from '../../support/process/error-code.ts'
import { systemClock, within } from '../../support/time/clock.ts'
import { type HandshakeRefusal, refusalOfOptions, refusalOfValidation } from './handshake-refusal.ts'
import { notReadyHeader, optionsRequest, validationRequest } from './handshake-request.ts'

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
