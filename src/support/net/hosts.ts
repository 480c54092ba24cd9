/** Which hosts mean this machine, and which requests may come from a page of another, by `Host`, `Origin` and `Sec-Fetch-Site`. */
import type { IncomingHttpHeaders } from 'node:http'
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

/** A request, as far as it shows whether a foreign page makes it. */
export interface BrowserRequest {
  readonly protocol: string
  readonly headers: IncomingHttpHeaders
}

/**
 * Whether the Host header names this machine (a loopback name or address) or the address that the server listens on;
 * where it listens on all addresses, any IP address. Any other name may be made to point here by an attacker, whose
 * own page could then read our answers (DNS rebinding).
 */
export function isOwnHost({ headers }: BrowserRequest, listeningOn: string): boolean {
  const name = /^(\[[\da-f:.]+\]|[^:[\]]+)(?::\d{1,5})?$/i.exec(headers.host ?? '')?.[1]?.toLowerCase()
  if (name === undefined) return false
  const host = name.replace(/^\[|\]$/g, '')
  if (isLoopback(host) || host === listeningOn.toLowerCase()) return true
  return isEveryAddress(listeningOn) && isIP(host) !== 0
}

/** Whether the browser says that a page of another origin makes the request. Other clients say nothing. */
function isForeignFetch({ headers }: BrowserRequest): boolean {
  const site = headers['sec-fetch-site']
  return site !== undefined && site !== 'same-origin' && site !== 'none'
}

/** Whether a web page of another server makes the request. Does not find DNS rebinding: for that the host is checked (`isOwnHost`). */
export function isForeignPage(request: BrowserRequest): boolean {
  return isForeignFetch(request) || (request.headers.origin !== undefined && !isOwnOrigin(request))
}

/** Whether a web page makes the request: browsers name its origin wherever something may change. */
export function isOfPage(request: BrowserRequest): boolean {
  return request.headers.origin !== undefined || isForeignFetch(request)
}

/** Whether the Origin header names this server. Browsers send it with every request that may change something. */
function isOwnOrigin({ headers, protocol }: BrowserRequest): boolean {
  return headers.origin === `${protocol}://${headers.host}`
}
