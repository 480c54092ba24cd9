// Verdict on handshake answers: `WebHook-Allowed-Origin`, validation code, path rewritten by an ingress.

import { explainHandshakeAnswer } from '../../../azure/resource-manager-refusal.ts'
import { querySecrets, scrub } from '../../../core/scrub.ts'
import { showUrl } from '../../../metadata/fields/redact.ts'
import type { InputMetadata } from '../../../metadata/typed/metadata.ts'
import { isRecord } from '../../../support/text/is-record.ts'
import { readJson } from '../../../support/text/json-text.ts'
import { cut, shellWord } from '../../../support/text/text.ts'
import { type Finding, failed, ok } from '../report/finding.ts'
import { healthOf, type PortHolder } from '../world/own-listener.ts'
import type { ProbeAnswer } from '../world/probe.ts'
import type { EndpointAnswers } from '../world/probe-endpoint.ts'

export interface JudgeEndpointOptions {
  readonly input: InputMetadata
  readonly answers: EndpointAnswers
  readonly holder: PortHolder
}

/** Judges the handshake: consent to OPTIONS, and an answer to the validation event. */
export function judgeHandshake({ input, answers, holder }: JudgeEndpointOptions): Finding {
  const { options, validation, code } = answers
  const cite = citer(input)
  const arrived = strayPath(answers)
  if (arrived !== undefined) {
    const what = `the handshake reached a listener of this binding at ${cite(arrived, 256)}, which it does not serve`
    return failed(what, { belongsTo: 'endpoint/path' })
  }
  if (options.headers['x-ms-routing-request-id'] !== undefined) {
    const { origin, pathname } = new URL(input.subscriberEndpoint)
    const remedy = `eventgrid-binding emulate --ingress ${shellWord(`${origin}/`)}=http://127.0.0.1:${input.handshakePort}/`
    return failed(`the emulator has no ingress rule for ${origin}${pathname}`, { remedy })
  }
  const origin = input.environment.eventGridOrigin
  if (options.status < 200 || options.status > 299) return refused('OPTIONS', options, input, cite)
  const consent = options.headers['webhook-allowed-origin']?.trim().toLowerCase()
  if (consent !== '*' && consent !== origin.toLowerCase()) {
    const said =
      consent === undefined ? 'without WebHook-Allowed-Origin' : `with WebHook-Allowed-Origin: ${cite(consent, 80)}`
    const what = `OPTIONS with WebHook-Request-Origin: ${origin} was answered ${options.status} ${said}${who(options, cite)}`
    return failed(what, { remedy: explained('OPTIONS', options, input).fix })
  }
  if (validation.status !== 200) return refused('POST', validation, input, cite)
  if (responseOf(validation.body) !== code) {
    const what = `POST of the validation event was answered 200 without its code${who(validation, cite)}`
    return failed(what, { remedy: explained('POST', validation, input).fix })
  }
  return ok(`OPTIONS and POST reach ${reached(answers, holder)}`)
}

export function judgePath({ input, answers, holder }: JudgeEndpointOptions): Finding {
  const cite = citer(input)
  const arrived = strayPath(answers)
  const asked = new URL(input.subscriberEndpoint).pathname
  if (arrived !== undefined) {
    const remedy = `let the ingress or gateway keep the path ${asked}, or rewrite it to /api/events`
    return failed(`${asked} arrives at the listener as ${cite(arrived, 256)}, which it does not serve`, { remedy })
  }
  if (!healthOf(answers.health)) {
    const what = `which path arrives is not known: another server answers${who(answers.health, cite)}`
    return failed(what, { belongsTo: 'endpoint/handshake' })
  }
  return ok(`${asked} arrives at ${reached(answers, holder)} and is served`)
}

/** The listener that the endpoint leads to: the one on `handshakePort`, or another. */
function reached({ health }: EndpointAnswers, holder: PortHolder): string {
  const said = healthOf(health)
  if (!said) return 'a server that knows the handshake'
  if (holder.kind !== 'check') return 'a listener of this binding'
  return said.check === holder.mark
    ? 'handshakePort (check listens there itself)'
    : 'a listener of this binding elsewhere'
}

/** The path that arrived, if a listener of ours answered that it does not serve it. */
function strayPath({ health, options }: EndpointAnswers): string | undefined {
  for (const { status, headers, body } of [health, options]) {
    if (status !== 404 || headers['content-type'] !== 'application/problem+json') continue
    const problem = readJson(body)
    if (isRecord(problem) && typeof problem.path === 'string') return problem.path
  }
  return undefined
}

const explained = (method: 'OPTIONS' | 'POST', { status }: ProbeAnswer, input: InputMetadata) =>
  explainHandshakeAnswer({ method, answer: String(status) }, input.subscriberEndpoint)

function refused(method: 'OPTIONS' | 'POST', answer: ProbeAnswer, input: InputMetadata, cite: Cite): Finding {
  const { what, fix } = explained(method, answer, input)
  const { location } = answer.headers
  const aside =
    location === undefined ? '' : `, a redirect that Event Grid does not follow, to ${cite(showUrl(location), 200)}`
  return failed(`${what}${aside}${who(answer, cite)}`, { remedy: [fix, ...hints(answer)].join('\n') })
}

/** A text of a server as it may be shown: one line, cut, and without what is secret. */
type Cite = (text: string, maxLength: number) => string

/** A server may echo what it was sent: the query of `subscriberEndpoint`, or parts of it. */
export function citer({ subscriberEndpoint }: Pick<InputMetadata, 'subscriberEndpoint'>): Cite {
  const secrets = querySecrets(subscriberEndpoint)
  return (text, maxLength) => cut(scrub(text, secrets), maxLength)
}

/** What identifies the server: its `server` header, the title of its page or its plain words. */
function who({ headers, body }: ProbeAnswer, cite: Cite): string {
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

function responseOf(body: string): unknown {
  const answer = readJson(body)
  return isRecord(answer) ? answer.validationResponse : undefined
}
