/** Event Grid's handshake: its two requests, and whether an answer consents. If not: what was answered, by whom, and what to do. */
import { randomUUID } from 'node:crypto'
import { secureContextOf } from '../azure/http.ts'
import { proxyOfEndpoint } from '../azure/proxy.ts'
import { explainHandshakeAnswer } from '../azure/refusals/resource-manager-refusal.ts'
import type { Endpoints } from '../core/endpoints.ts'
import { querySecrets, scrub } from '../core/scrub.ts'
import { showUrl } from '../metadata/fields/addresses.ts'
import type { PushMetadata } from '../metadata/typed/metadata.ts'
import { isLoopback } from '../support/net/hosts.ts'
import { type Probe, type ProbeAnswer, probe, targetsOf } from '../support/net/probe.ts'
import { codeOf } from '../support/process/error-code.ts'
import { isRecord, readJson } from '../support/text/json-text.ts'
import { cut } from '../support/text/text.ts'

export type HandshakeRequest = Pick<Probe, 'method' | 'headers' | 'body'>

/** Header of the consent of a replica that is not ready for deliveries. Other replicas read this header, Event Grid does not. */
export const notReadyHeader = 'x-eventgrid-binding-not-ready'

/** Of events as CloudEvents (Event Grid: end-point-validation-cloud-events-schema). */
export function optionsRequest({ environment }: Pick<PushMetadata, 'environment'>): HandshakeRequest {
  return { method: 'OPTIONS', headers: { 'webhook-request-origin': environment.eventGridOrigin } }
}

/** Of events in Event Grid's schema (Event Grid: end-point-validation-event-grid-events-schema). The answer must have the code. */
export function validationRequest(
  { eventSubscriptionName, scope }: Pick<PushMetadata, 'eventSubscriptionName' | 'scope'>,
  validationCode: string,
): HandshakeRequest {
  return {
    method: 'POST',
    headers: {
      'content-type': 'application/json; charset=utf-8',
      'aeg-event-type': 'SubscriptionValidation',
      'aeg-subscription-name': eventSubscriptionName.toUpperCase(),
      'aeg-delivery-count': '0',
      'aeg-data-version': '2',
      'aeg-metadata-version': '1',
    },
    body: JSON.stringify([
      {
        id: randomUUID(),
        topic: scope.id,
        subject: '',
        data: { validationCode },
        eventType: 'Microsoft.EventGrid.SubscriptionValidationEvent',
        eventTime: new Date().toISOString(),
        metadataVersion: '1',
        dataVersion: '2',
      },
    ]),
  }
}

type Endpoint = Pick<PushMetadata, 'subscriberEndpoint' | 'environment'>

/** An answer by which the endpoint refuses the handshake. Its texts hold no secret. */
export interface HandshakeRefusal {
  /** The status. */
  readonly answer: string
  readonly what: string
  readonly fix: string
}

/** Why an answer to OPTIONS is no consent; `undefined` where it is. Headers give the consent, the status alone does not. */
export function refusalOfOptions(answer: ProbeAnswer, input: Endpoint): HandshakeRefusal | undefined {
  const origin = input.environment.eventGridOrigin
  if (answer.status < 200 || answer.status > 299) return refused('OPTIONS', answer, input)
  const allowed = answer.headers['webhook-allowed-origin']
  const names = allowed?.split(',').map((name) => name.trim().toLowerCase())
  if (names?.some((name) => name === '*' || name === origin.toLowerCase())) return undefined
  const cite = citer(input)
  const said =
    allowed === undefined
      ? 'without WebHook-Allowed-Origin'
      : `with WebHook-Allowed-Origin: ${cite(allowed.trim(), 80)}`
  const asked = `OPTIONS with WebHook-Request-Origin: ${origin}`
  const what = `${failedWith(input)}: ${asked} was answered ${answer.status} ${said}${who(answer, cite)}`
  return { ...explained('OPTIONS', answer, input), what }
}

/** Why an answer to the validation event is no consent; `undefined` where it is: 200 with the code of the event, and nothing else. */
export function refusalOfValidation(answer: ProbeAnswer, code: string, input: Endpoint): HandshakeRefusal | undefined {
  if (answer.status !== 200) return refused('POST', answer, input)
  const said = readJson(answer.body)
  if (isRecord(said) && said.validationResponse === code) return undefined
  const what = `${failedWith(input)}: POST of the validation event was answered 200 without its code${who(answer, citer(input))}`
  return { ...explained('POST', answer, input), what }
}

const failedWith = ({ subscriberEndpoint }: Endpoint) => `the handshake with ${showUrl(subscriberEndpoint)} failed`

const explained = (method: 'OPTIONS' | 'POST', { status }: ProbeAnswer, { subscriberEndpoint }: Endpoint) => ({
  answer: String(status),
  ...explainHandshakeAnswer({ method, answer: String(status) }, subscriberEndpoint),
})

function refused(method: 'OPTIONS' | 'POST', answer: ProbeAnswer, input: Endpoint): HandshakeRefusal {
  const { what, fix, ...rest } = explained(method, answer, input)
  const cite = citer(input)
  const { location } = answer.headers
  const aside =
    location === undefined ? '' : `, a redirect that Event Grid does not follow, to ${cite(showUrl(location), 200)}`
  return { ...rest, what: `${what}${aside}${who(answer, cite)}`, fix: [fix, ...hints(answer)].join('\n') }
}

/** A text of a server for the log: one line, cut, without secrets. */
type Cite = (text: string, maxLength: number) => string

/** A server may echo its request: the query of `subscriberEndpoint`, or parts of that query. */
export function citer({ subscriberEndpoint }: Pick<PushMetadata, 'subscriberEndpoint'>): Cite {
  const secrets = querySecrets(subscriberEndpoint)
  return (text, maxLength) => cut(scrub(text, secrets), maxLength)
}

/** What identifies the server: its `server` header, the title of its page or its plain words. */
export function who({ headers, body }: ProbeAnswer, cite: Cite): string {
  const isPlain = /^text\/plain\b/i.test(headers['content-type'] ?? '')
  const title = /<title[^>]{0,200}>([^<]{1,300})/i.exec(body)?.[1]
  const facts = [
    ...(headers.server === undefined ? [] : [`server: ${cite(headers.server, 60)}`]),
    ...(title === undefined ? [] : [`page: ${JSON.stringify(cite(title, 80))}`]),
    ...(isPlain && body !== '' ? [JSON.stringify(cite(body, 160))] : []),
  ]
  return facts.length === 0 ? '' : ` (${facts.join(', ')})`
}

/** Known causes (Event Grid: troubleshoot-subscription-validation; dev tunnels: security). */
function hints({ status, headers, body }: ProbeAnswer): readonly string[] {
  const isPage = /text\/html/i.test(headers['content-type'] ?? '') || /<html/i.test(body)
  const rules = 'the WAF rules 920300, 942430, 920230, 942130 and 931130 of an Application Gateway'
  const firewall = `a firewall may have answered: ${rules} block handshakes; exclude them for this path`
  const locked =
    'the handshake carries no credential: open the path to anybody (a tunnel: devtunnel host --allow-anonymous)'
  return [...(status === 403 && isPage ? [firewall] : []), ...(status === 401 ? [locked] : [])]
}

/** What became of the question. Holds no secret. */
export type EndpointAnswer =
  /** `byWaiting`: by a replica of this binding that is not ready itself, so nothing shows that another one serves. */
  | { readonly kind: 'consent'; readonly byWaiting: boolean }
  | { readonly kind: 'refusal'; readonly refusal: HandshakeRefusal }
  /** Nothing answered, which is no evidence: a pod may not reach its own public address. `why` is a clause. */
  | { readonly kind: 'silence'; readonly why: string }
  /** An emulator serves this public name by its ingress: there is nobody to ask. */
  | { readonly kind: 'emulated' }

/** Where and how the endpoint of a web hook is asked. */
export interface AskedEndpoint {
  /** Its URL without what is secret. */
  readonly shown: string
  /** Never rejects. */
  readonly ask: (signal: AbortSignal) => Promise<EndpointAnswer>
}

/** Whether a replica that takes deliveries is known to answer for the endpoint. */
export const isServed = (answer: EndpointAnswer): boolean => answer.kind === 'consent' && !answer.byWaiting

export interface EndpointQuestion {
  readonly input: PushMetadata
  readonly endpoints: Endpoints
  /** Base URL of Azure Resource Manager. */
  readonly resourceManager: string
}

/**
 * Makes the question. Its form depends on the schema that will be written. With `CloudEventSchemaV1_0` Event Grid asks by OPTIONS alone.
 * With `EventGridSchema` it posts a validation event and never sends OPTIONS; so a consent to OPTIONS says nothing about that schema, and
 * the same event is posted here. That does no harm: who serves the handshake gives the code back, and no application sees the event.
 */
export function createEndpointQuestion({ input, endpoints, resourceManager }: EndpointQuestion): AskedEndpoint {
  const url = new URL(input.subscriberEndpoint)
  const isOfEmulator = endpoints.topics !== undefined || isLoopback(new URL(resourceManager).hostname)
  const isEmulated = isOfEmulator && !isLoopback(url.hostname)

  async function answerOf(signal: AbortSignal): Promise<EndpointAnswer> {
    const code = randomUUID()
    const isEventGridSchema = input.settings.eventDeliverySchema === 'EventGridSchema'
    const request = isEventGridSchema ? validationRequest(input, code) : optionsRequest(input)
    const proxy = proxyOfEndpoint(url)
    const targets: readonly Probe['target'][] = proxy ? [{ proxy }] : await targetsOf(url, signal)
    const secureContext = secureContextOf(endpoints)
    const answer = await firstAnswer(targets, signal, (target, one) =>
      probe({ url, signal: one, secureContext, ...request, target }),
    )
    const refusal = isEventGridSchema ? refusalOfValidation(answer, code, input) : refusalOfOptions(answer, input)
    if (refusal) return { kind: 'refusal', refusal }
    return { kind: 'consent', byWaiting: answer.headers[notReadyHeader] !== undefined }
  }

  return {
    shown: showUrl(input.subscriberEndpoint),
    async ask(signal) {
      if (isEmulated) return { kind: 'emulated' }
      try {
        return await answerOf(signal)
      } catch (error) {
        return { kind: 'silence', why: reasonOf(error) }
      }
    },
  }
}

/**
 * Asks all addresses at once, as one that is silent would take the time of the others. Resolves with the first answer, and ends the other
 * questions. Rejects with the error of the first address where none answers.
 */
export async function firstAnswer<Target, Answer>(
  targets: readonly Target[],
  signal: AbortSignal,
  ask: (target: Target, signal: AbortSignal) => Promise<Answer>,
): Promise<Answer> {
  const answered = new AbortController()
  const either = AbortSignal.any([signal, answered.signal])
  try {
    return await Promise.any(targets.map((target) => ask(target, either)))
  } catch (error) {
    const [first] = error instanceof AggregateError ? error.errors : [error]
    throw first ?? new Error('the name has no address')
  } finally {
    answered.abort()
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof Error && (error.name === 'TimeoutError' || error.name === 'AbortError'))
    return 'no answer in time'
  return codeOf(error) ?? 'no answer'
}
