/** Check `machine/port`: is `handshakePort` free, ours or taken? */
import { citer } from '../../../provision/handshake.ts'
import { oneLine } from '../../../support/text/text.ts'
import type { InputContext } from '../context/side-context.ts'
import { idleSubscription } from '../findings/idle-subscription.ts'
import { type Finding, failed, ok, warning } from '../report/finding.ts'

/** @param taken the component before that has the same port */
export async function checkPort(context: InputContext, taken: string | undefined): Promise<Finding> {
  const { handshakePort } = context.input
  if (taken !== undefined) {
    const remedy = 'give each component a handshakePort of its own, and route its path to it'
    return failed(`component ${JSON.stringify(taken)} has handshakePort ${handshakePort} too`, { remedy })
  }
  const holder = await context.portHolder()
  if (holder.kind === 'check') return (await idleSubscription(context)) ?? ok(`${handshakePort} is free`)
  if (holder.kind === 'ours') {
    const held = `${handshakePort} is held by a listener of this binding`
    const state = oneLine(String(holder.health.eventSubscription), 20)
    const handler = oneLine(String(holder.health.handler), 20)
    return handler === 'missing'
      ? warning(`${held}, but no application takes events: deliveries get 503`, { remedy: noApplication })
      : ok(`${held} (event subscription ${state}, handler ${handler})`)
  }
  const { error, answer } = holder
  const server = answer?.headers.server
  const by = server === undefined ? '' : ` (server: ${citer(context.input)(server, 60)})`
  const who = answer ? `; its holder answers OPTIONS with ${answer.status}${by}` : ''
  return failed(`${error.what}${who}`, { remedy: error.fix })
}

const noApplication =
  'with run: start the application on --app-port; it must answer OPTIONS at the path of the component with 2xx or 405, ' +
  'and the log of run says what is missing. With serve: start daprd and the application; if the log of daprd says ' +
  '"app has not subscribed", the application must answer OPTIONS at that path with 2xx or 405: correct it and restart daprd. ' +
  'In a program: attach a handler'
