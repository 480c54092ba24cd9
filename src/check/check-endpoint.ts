import { certificateRemedy } from '../core/certificate-fault.ts'
import { codeOf } from '../support/error-code.ts'
import { oneLine } from '../support/text.ts'
import type { CheckId } from './check-ids.ts'
import { type Finding, failed } from './finding.ts'
import { type JudgeEndpointOptions, judgeHandshake, judgePath } from './judge-endpoint.ts'
import type { Check } from './run-checks.ts'
import type { InputWorld } from './world.ts'

/** Two requests, one after the other, may each take their whole time. */
const limitMs = 10_000

/** Does the handshake succeed, and who answers it? */
export const handshakeCheck = (world: InputWorld) => endpointCheck('endpoint/handshake', world, judgeHandshake)

/** Which path arrives at the listener? */
export const pathCheck = (world: InputWorld) => endpointCheck('endpoint/path', world, judgePath)

function endpointCheck(id: CheckId, world: InputWorld, judge: (options: JudgeEndpointOptions) => Finding): Check {
  const { input } = world
  return {
    id,
    needs: ['machine/port', 'endpoint/connect', 'endpoint/certificate'],
    limitMs,
    async run() {
      // Where nobody listens, this does.
      const holder = await world.portHolder()
      try {
        const answers = await world.endpointAnswers()
        return judge({ input, answers, holder, context: world.explainedBy() })
      } catch (error) {
        const code = codeOf(error)
        const why = error instanceof Error ? oneLine(error.message, 200) : 'no answer'
        return failed(
          `${new URL(input.subscriberEndpoint).host} gave no answer (${code === undefined || why.includes(code) ? why : `${code}: ${why}`})`,
          {
            remedy:
              certificateRemedy(code) ??
              'let the ingress or tunnel route the path of subscriberEndpoint to handshakePort',
            ...(id === 'endpoint/path' && { belongsTo: 'endpoint/handshake' }),
          },
        )
      }
    },
  }
}
