/** Which requests may come from a browser, by `Host`, `Origin` and `Sec-Fetch-Site`. */
import type { IncomingHttpHeaders } from 'node:http'
import { isIP } from 'node:net'
import { isEveryAddress, isLoopback } from './loopback.ts'

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
export function isForeignFetch({ headers }: BrowserRequest): boolean {
  const site = headers['sec-fetch-site']
  return site !== undefined && site !== 'same-origin' && site !== 'none'
}

/** Whether a web page makes the request: browsers name its origin wherever something may change. */
export function isOfPage(request: BrowserRequest): boolean {
  return request.headers.origin !== undefined || isForeignFetch(request)
}

/** Whether the Origin header names this server. Browsers send it with every request that may change something. */
export function isOwnOrigin({ headers, protocol }: BrowserRequest): boolean {
  return headers.origin === `${protocol}://${headers.host}`
}
