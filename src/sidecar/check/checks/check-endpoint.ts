/** Checks `endpoint/handshake` and `endpoint/path`: who answers at the public endpoint, and does an ingress rewrite the path? */
import { certificateRemedy } from '../../../azure/refusals/remedies.ts'
import type { PushMetadata } from '../../../metadata/typed/metadata.ts'
import { citer, refusalOfOptions, refusalOfValidation, who } from '../../../provision/handshake.ts'
import { codeOf, messageOf } from '../../../support/process/error-code.ts'
import { isRecord, readJson } from '../../../support/text/json-text.ts'
import { oneLine, shellWord } from '../../../support/text/text.ts'
import { healthOf, isOwnAnswer, type PortHolder } from '../context/own-listener.ts'
import { type EndpointAnswers, type InputContext, unreachedBy } from '../context/side-context.ts'
import { type Finding, failed, ok } from '../finding.ts'

/** Consent to OPTIONS, and an answer to the validation event. */
export const checkHandshake = (context: InputContext) => findingOfAnswers(context, handshakeFinding)

export const checkPath = (context: InputContext) => findingOfAnswers(context, pathFinding)

async function findingOfAnswers(
  context: InputContext,
  findingOf: (input: PushMetadata, answers: EndpointAnswers, holder: PortHolder) => Finding,
): Promise<Finding> {
  const { input } = context
  // Opens the listener if the port is free.
  const holder = await context.portHolder()
  try {
    return findingOf(input, await context.endpointAnswers(), holder)
  } catch (error) {
    const code = codeOf(error)
    const message = oneLine(messageOf(error), 200)
    const why = code === undefined || message.includes(code) ? message : `${code}: ${message}`
    const route = 'let the ingress or tunnel route the path of subscriberEndpoint to handshakePort'
    return failed(`${new URL(input.subscriberEndpoint).host} gave no answer (${why})`, {
      remedy: certificateRemedy(code) ?? route,
      belongsTo: 'endpoint/handshake',
    })
  }
}

function handshakeFinding(input: PushMetadata, answers: EndpointAnswers, holder: PortHolder): Finding {
  const { options, validation, code } = answers
  const arrived = strayPath(answers)
  if (arrived !== undefined) {
    const what = `the handshake reached a listener of this binding at ${citer(input)(arrived, 256)}, which it does not serve`
    return failed(what, { belongsTo: 'endpoint/path' })
  }
  const unreached = unreachedBy(options)
  if (unreached !== undefined) {
    const { origin, pathname } = new URL(input.subscriberEndpoint)
    const remedy = `eventgrid-binding emulate --ingress ${shellWord(`${origin}/`)}=http://127.0.0.1:${input.handshakePort}/`
    return failed(`the emulator does not reach ${origin}${pathname}: ${citer(input)(unreached, 500)}`, { remedy })
  }
  const refusal = refusalOfOptions(options, input) ?? refusalOfValidation(validation, code, input)
  if (refusal) return failed(refusal.what, { remedy: refusal.fix })
  return ok(`OPTIONS and POST reach ${reached(answers, holder)}`)
}

function pathFinding(input: PushMetadata, answers: EndpointAnswers, holder: PortHolder): Finding {
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

/** The listener that the endpoint leads to: our listener on `handshakePort`, or another. */
function reached({ health }: EndpointAnswers, holder: PortHolder): string {
  if (!healthOf(health)) return 'a server that knows the handshake'
  if (holder.kind !== 'check') return 'a listener of this binding'
  return isOwnAnswer(holder, health)
    ? 'handshakePort (check listens there itself)'
    : 'a listener of this binding elsewhere'
}

/** The path that arrived, if a listener of ours answered that it does not serve this path. */
function strayPath({ health, options }: EndpointAnswers): string | undefined {
  for (const { status, headers, body } of [health, options]) {
    if (status !== 404 || headers['content-type'] !== 'application/problem+json') continue
    const problem = readJson(body)
    if (isRecord(problem) && typeof problem.path === 'string') return problem.path
  }
  return undefined
}
