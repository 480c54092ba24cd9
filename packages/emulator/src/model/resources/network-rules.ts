// Which client addresses may publish: `inboundIpRules` masks, `publicNetworkAccess`.
import { BlockList, isIP } from 'node:net'
import type { Publishable } from './resource.ts'

const familyOf = (address: string) => (isIP(address) === 6 ? 'ipv6' : 'ipv4')

/** Whether a text is an IP address, with or without a prefix length: `10.0.0.0/8`. */
export function isIpMask(text: string): boolean {
  const [address = '', prefix, ...more] = text.split('/')
  if (isIP(address) === 0 || more.length > 0) return false
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= (isIP(address) === 6 ? 128 : 32))
}

/** Whether the network rules of a topic or domain let an address publish. Rules count only where public access is enabled. */
export function admitsAddress(
  { publicNetworkAccess = 'Enabled', inboundIpRules = [] }: Pick<Publishable, 'publicNetworkAccess' | 'inboundIpRules'>,
  address: string,
): boolean {
  if (publicNetworkAccess !== 'Enabled') return false
  if (inboundIpRules.length === 0) return true
  const allowed = new BlockList()
  for (const { ipMask } of inboundIpRules) {
    const [base = '', prefix] = ipMask.split('/')
    if (prefix === undefined) allowed.addAddress(base, familyOf(base))
    else allowed.addSubnet(base, Number(prefix), familyOf(base))
  }
  return allowed.check(address, familyOf(address))
}
