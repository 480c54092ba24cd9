/** The checks `endpoint/dns`, `topic/dns` and `endpoint/connect`: does a name resolve, and does each address take a connection? */

import { BlockList, isIP } from 'node:net'
import { bareHost, type Target, tryConnection } from '../../../support/net/probe.ts'
import { codeOf, messageOf } from '../../../support/process/error-code.ts'
import { withLimit } from '../../../support/time/clock.ts'
import type { InputContext, Route } from '../context/side-context.ts'
import { type Finding, failed, ok, warning } from '../finding.ts'

export interface DnsOptions {
  readonly field: 'subscriberEndpoint' | 'topicEndpoint'
  readonly url: URL
  /** An emulator answers in the place of Azure. */
  readonly byEmulator: boolean
  route(): Promise<Route>
}

export async function checkName({ field, url, byEmulator, route }: DnsOptions): Promise<Finding> {
  const host = url.hostname
  const isEndpoint = field === 'subscriberEndpoint'
  let found: Route
  try {
    found = await route()
  } catch (error) {
    const remedy = `check the name in ${field}, or make its DNS record:\ndig +short ${host}`
    return failed(`${host} does not resolve (${codeOf(error) ?? 'no answer'})`, { remedy })
  }
  const addresses = found.targets.map(({ address }) => address)
  const shown = addresses.join(', ') === bareHost(url) ? host : `${host} (${addresses.join(', ')})`
  if (found.byEmulator) return ok(`the emulator answers for ${host}`)
  const kinds = new Set(addresses.map(addressKind))
  if (kinds.has('loopback') && !byEmulator)
    return warning(`${shown} is on this machine${isEndpoint ? ', which Azure does not reach' : ''}`)
  if (kinds.has('private') && isEndpoint) {
    const remedy = `${field} needs a public address; if ${host} has another one outside of this network, all is well`
    return warning(`${shown}, a private address that Event Grid does not reach`, { remedy })
  }
  return ok(shown)
}

const familyOf = (address: string) => (isIP(address) === 6 ? 'ipv6' : 'ipv4')

const loopback = listOf('127.0.0.0/8 ::1/128 0.0.0.0/8 ::/128')
const own = listOf('10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 100.64.0.0/10 169.254.0.0/16 fc00::/7 fe80::/10')

/** The kind of an address. Private ranges: RFC 1918, 4193, 6598, and link-local addresses. */
export function addressKind(address: string): 'loopback' | 'private' | 'public' {
  if (loopback.check(address, familyOf(address))) return 'loopback'
  return own.check(address, familyOf(address)) ? 'private' : 'public'
}

function listOf(ranges: string): BlockList {
  const list = new BlockList()
  for (const range of ranges.split(' ')) {
    const [address = '', bits] = range.split('/')
    list.addSubnet(address, Number(bits), familyOf(address))
  }
  return list
}

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

/** Why a connection can't be made; `undefined` where a connection is made. */
function troubleOf({ address, port }: Target, signal: AbortSignal): Promise<string | undefined> {
  return withLimit({ ms: limitMs, signal }, async (limited) => {
    try {
      await tryConnection({ host: address, port }, limited)
      return undefined
    } catch (error) {
      const isLate = limited.aborted && !signal.aborted
      return isLate ? `no answer within ${limitMs / 1_000} s` : (codeOf(error) ?? messageOf(error))
    }
  })
}
