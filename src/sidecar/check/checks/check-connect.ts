/** Check `endpoint/connect`: whether each address of the public endpoint takes a TCP connection. */
import { once } from 'node:events'
import { connect } from 'node:net'
import type { Target } from '../../../support/net/probe.ts'
import { codeOf, messageOf } from '../../../support/process/error-code.ts'
import { withLimit } from '../../../support/time/clock.ts'
import type { InputContext } from '../context/side-context.ts'
import { type Finding, failed, ok, warning } from '../report/finding.ts'

const limitMs = 5_000

const remedy = [
  'open the port in firewalls and security groups, and let the ingress or tunnel listen there',
  'Event Grid calls from the addresses of the service tag AzureEventGrid',
].join('; ')

export async function checkConnections(context: InputContext, signal: AbortSignal): Promise<Finding> {
  const { targets } = await context.route()
  const tries = await Promise.all(targets.map(async (target) => ({ target, trouble: await troubleOf(target, signal) })))
  const closed = tries.filter(({ trouble }) => trouble !== undefined)
  const shown = closed.map(({ target, trouble }) => `${shownTarget(target)}: ${trouble}`).join(', ')
  if (closed.length === targets.length) return failed(`no connection: ${shown}`, { remedy })
  if (closed.length > 0)
    return warning(`not every address takes connections, and Event Grid may choose any: ${shown}`, { remedy })
  return ok(targets.map(shownTarget).join(', '))
}

const shownTarget = ({ address, port }: Target) =>
  address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`

/** Why a connection can't be made; `undefined` where it can. */
function troubleOf({ address, port }: Target, signal: AbortSignal): Promise<string | undefined> {
  return withLimit({ ms: limitMs, signal }, async (limited) => {
    const socket = connect({ host: address, port, signal: limited })
    try {
      await once(socket, 'connect')
      return undefined
    } catch (error) {
      const isLate = limited.aborted && !signal.aborted
      return isLate ? `no answer within ${limitMs / 1_000} s` : (codeOf(error) ?? messageOf(error))
    } finally {
      socket.destroy()
    }
  })
}
