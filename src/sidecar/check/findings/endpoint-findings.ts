/** What the answers of the public endpoint say: who answers, and whether an ingress rewrites the path. */
import type { InputMetadata } from '../../../metadata/typed/metadata.ts'
import { citer, refusalOfOptions, refusalOfValidation, who } from '../../../provision/handshake/handshake-refusal.ts'
import { isRecord } from '../../../support/text/is-record.ts'
import { readJson } from '../../../support/text/json-text.ts'
import { shellWord } from '../../../support/text/text.ts'
import { healthOf, type PortHolder } from '../context/own-listener.ts'
import type { EndpointAnswers } from '../context/probe-endpoint.ts'
import { type Finding, failed, ok } from '../report/finding.ts'

export interface EndpointFacts {
  readonly input: InputMetadata
  readonly answers: EndpointAnswers
  readonly holder: PortHolder
}

/** About the handshake: consent to OPTIONS, and an answer to the validation event. */
export function handshakeFinding({ input, answers, holder }: EndpointFacts): Finding {
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
  const refusal = refusalOfOptions(options, input) ?? refusalOfValidation(validation, code, input)
  if (refusal) return failed(refusal.what, { remedy: refusal.fix })
  return ok(`OPTIONS and POST reach ${reached(answers, holder)}`)
}

export function pathFinding({ input, answers, holder }: EndpointFacts): Finding {
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
