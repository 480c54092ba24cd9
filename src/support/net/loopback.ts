/** Which host names mean this machine, and which all of its addresses. */
import { isIP } from 'node:net'

/** Whether a host name or address always means this machine. An IPv6 address may be in brackets, as in a URL. */
export function isLoopback(host: string): boolean {
  return /^(localhost|.+\.localhost|127\.\d+\.\d+\.\d+|::1|\[::1\])$/i.test(host)
}

/** An address as all else writes it: without the brackets of a URL, and IPv4 where IPv6 maps it (`::ffff:127.0.0.1`). */
export function plainAddress(host: string): string {
  const bare = host.replace(/^\[(.*)\]$/, '$1')
  if (isIP(bare) !== 6) return bare
  // The URL has one spelling for each address.
  const [, high, low] = /^\[::ffff:([\da-f]+):([\da-f]+)\]$/.exec(new URL(`http://[${bare}]`).hostname) ?? []
  if (high === undefined || low === undefined) return bare
  const [first, second] = [Number.parseInt(high, 16), Number.parseInt(low, 16)]
  return [first >> 8, first & 255, second >> 8, second & 255].join('.')
}

/** Whether listening on it is listening on all addresses. No client can use it as a host. */
export const isEveryAddress = (host: string): boolean => host === '0.0.0.0' || host === '::'
