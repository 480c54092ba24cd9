/** Checks `endpoint/dns` and `topic/dns`: does the name resolve, and to an address that Azure can reach? */
import { BlockList, isIP } from 'node:net'
import { bareHost } from '../../../support/net/probe.ts'
import { codeOf } from '../../../support/process/error-code.ts'
import type { Route } from '../context/side-context.ts'
import { type Finding, failed, ok, warning } from '../report/finding.ts'

export interface DnsOptions {
  readonly field: 'subscriberEndpoint' | 'topicEndpoint'
  readonly url: URL
  /** An emulator answers in the place of Azure. */
  readonly byEmulator: boolean
  /** The https URL of an emulator that the environment names, and `--emulator` does not. */
  readonly unused?: string | undefined
  route(): Promise<Route>
}

export async function checkName({ field, url, byEmulator, unused, route }: DnsOptions): Promise<Finding> {
  const host = url.hostname
  const isEndpoint = field === 'subscriberEndpoint'
  let found: Route
  try {
    found = await route()
  } catch (error) {
    return failed(`${host} does not resolve (${codeOf(error) ?? 'no answer'})`, {
      remedy: unused
        ? `run check with --emulator ${unused}: the emulator answers for public names`
        : `check the name in ${field}, or make its DNS record:\ndig +short ${host}`,
    })
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
