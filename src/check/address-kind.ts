import { BlockList, isIP } from 'node:net'

export type AddressKind = 'loopback' | 'private' | 'public'

const loopback = listOf(['127.0.0.0/8', '::1/128', '0.0.0.0/8', '::/128'])
const own = listOf([
  ...['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10', '169.254.0.0/16'],
  ...['fc00::/7', 'fe80::/10'],
])

/** The kind of an address. Private ranges: RFC 1918, 4193, 6598, and link-local addresses. */
export function addressKind(address: string): AddressKind {
  const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
  if (loopback.check(address, family)) return 'loopback'
  return own.check(address, family) ? 'private' : 'public'
}

function listOf(ranges: readonly string[]): BlockList {
  const list = new BlockList()
  for (const range of ranges) {
    const [address = '', bits = ''] = range.split('/')
    list.addSubnet(address, Number(bits), isIP(address) === 6 ? 'ipv6' : 'ipv4')
  }
  return list
}
