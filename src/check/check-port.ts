import { whatIsWrong } from '../core/errors.ts'
import { oneLine } from '../support/text.ts'
import { failed, ok } from './finding.ts'
import type { Check } from './run-checks.ts'
import type { InputWorld } from './world.ts'

/** Is `handshakePort` free, or held by a listener of ours? `taken`: a component checked before has it too. */
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
        const { eventSubscription, handler } = holder.health
        return ok(
          `${handshakePort} is held by a listener of this binding (event subscription ${oneLine(String(eventSubscription), 20)}, handler ${oneLine(String(handler), 20)})`,
        )
      }
      const { error, answer } = holder
      const who = answer ? `; its holder answers OPTIONS with ${answer.status}${serverOf(answer.headers.server)}` : ''
      return failed(`${whatIsWrong(error)}${who}`, { remedy: error.fix })
    },
  }
}

const serverOf = (server: string | undefined) => (server === undefined ? '' : ` (server: ${oneLine(server, 60)})`)
