import { whatIsWrong } from '../core/errors.ts'
import { oneLine } from '../support/text.ts'
import { failed, ok, warning } from './finding.ts'
import type { Check } from './run-checks.ts'
import type { InputWorld } from './world.ts'

/** Checks that `handshakePort` is free or held by a listener of ours. `taken`: the component before that uses it too. */
export function portCheck(world: InputWorld, taken: string | undefined): Check {
  const { handshakePort } = world.input
  return {
    id: 'machine/port',
    needs: ['files/metadata', 'files/secrets', 'files/names'],
    async run() {
      if (taken !== undefined) {
        return failed(`component ${JSON.stringify(taken)} has handshakePort ${handshakePort} too`, {
          remedy: 'give each component a handshakePort of its own, and route its path to it',
        })
      }
      const holder = await world.portHolder()
      if (holder.kind === 'check') return ok(`${handshakePort} is free`)
      if (holder.kind === 'ours') {
        const [state, handler] = ['eventSubscription', 'handler'].map((name) =>
          oneLine(String(holder.health[name]), 20),
        )
        if (handler === 'missing') return noApplication(handshakePort)
        const status = `event subscription ${state}, handler ${handler}`
        return ok(`${handshakePort} is held by a listener of this binding (${status})`)
      }
      const { error, answer } = holder
      const who = answer ? `; its holder answers OPTIONS with ${answer.status}${serverOf(answer.headers.server)}` : ''
      return failed(`${whatIsWrong(error)}${who}`, { remedy: error.fix })
    },
  }
}

const noApplication = (handshakePort: number) =>
  warning(
    `${handshakePort} is held by a listener of this binding, but no application takes events: deliveries get 503`,
    {
      remedy:
        'with run: start the application on --app-port; it must answer OPTIONS at the path of the component with 2xx or 405, ' +
        'and the log of run says what is missing. With serve: start daprd and the application. In a program: attach a handler',
    },
  )

const serverOf = (server: string | undefined) => (server === undefined ? '' : ` (server: ${oneLine(server, 60)})`)
