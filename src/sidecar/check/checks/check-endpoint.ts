/** Checks `endpoint/handshake` and `endpoint/path`: what the public endpoint answers, or why it gives no answer. */
import { certificateRemedy } from '../../../azure/connection-fault.ts'
import { codeOf, messageOf } from '../../../support/process/error-code.ts'
import { oneLine } from '../../../support/text/text.ts'
import type { InputContext } from '../context/side-context.ts'
import type { EndpointFacts } from '../findings/endpoint-findings.ts'
import { type Finding, failed } from '../report/finding.ts'

export async function checkAnswers(
  context: InputContext,
  findingOf: (facts: EndpointFacts) => Finding,
): Promise<Finding> {
  const { input } = context
  // Opens the listener if the port is free.
  const holder = await context.portHolder()
  try {
    const answers = await context.endpointAnswers()
    return findingOf({ input, answers, holder })
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
