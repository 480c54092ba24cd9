// Checks `endpoint/handshake` and `endpoint/path`: what they need, text for no answer.
import { certificateRemedy } from '../../../azure/connection-fault.ts'
import { codeOf, messageOf } from '../../../support/process/error-code.ts'
import { oneLine } from '../../../support/text/text.ts'
import { type JudgeEndpointOptions, judgeHandshake, judgePath } from '../judge/judge-endpoint.ts'
import type { CheckId } from '../report/check-ids.ts'
import { type Finding, failed } from '../report/finding.ts'
import type { Check } from '../run-checks.ts'
import type { InputWorld } from '../world/world.ts'

/** Checks that the handshake succeeds, and says who answers. */
export const handshakeCheck = (world: InputWorld) => endpointCheck('endpoint/handshake', world, judgeHandshake)

/** Checks that the path which arrives at the listener is one that it serves. */
export const pathCheck = (world: InputWorld) => endpointCheck('endpoint/path', world, judgePath)

function endpointCheck(id: CheckId, world: InputWorld, judge: (options: JudgeEndpointOptions) => Finding): Check {
  const { input } = world
  return {
    id,
    needs: ['machine/port', 'endpoint/connect', 'endpoint/certificate'],
    async run() {
      // Opens the listener if the port is free.
      const holder = await world.portHolder()
      try {
        const answers = await world.endpointAnswers()
        return judge({ input, answers, holder })
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
    },
  }
}
