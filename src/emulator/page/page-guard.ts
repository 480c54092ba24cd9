import type { IncomingHttpHeaders } from 'node:http'
import { isLoopback } from '../../support/loopback.ts'

/** A request to the page, as far as it decides who may ask. */
export interface GuardedRequest {
  readonly protocol: string
  readonly headers: IncomingHttpHeaders
}

/**
 * Whether the request names this machine as its host, or the address that the emulator was told to listen on. Anything
 * else is a name that somebody pointed here so that his own page may read this one (DNS rebinding).
 * @param listeningOn the emulator's `host`
 */
export function isOwnHost({ headers }: GuardedRequest, listeningOn: string): boolean {
  const name = /^(\[[\da-f:.]+\]|[^:[\]]+)(?::\d{1,5})?$/i.exec(headers.host ?? '')?.[1]?.toLowerCase()
  if (name === undefined) return false
  const own = listeningOn.includes(':') ? `[${listeningOn}]` : listeningOn
  return isLoopback(name) || name === own.toLowerCase()
}

/** Whether the browser says that another site makes the request. Clients that are no browsers say nothing. */
export function isForeignFetch({ headers }: GuardedRequest): boolean {
  const site = headers['sec-fetch-site']
  return site !== undefined && site !== 'same-origin' && site !== 'none'
}

/**
 * Why a POST does not come from the page itself, or undefined if it does. A form of another site can
 * send neither this origin nor JSON.
 */
export function foreignPost(request: GuardedRequest): string | undefined {
  const { headers, protocol } = request
  if (isForeignFetch(request) || headers.origin !== `${protocol}://${headers.host}`) {
    return 'Only the page itself may publish here. Others publish to the topic.'
  }
  const type = headers['content-type']?.split(';')[0]?.trim().toLowerCase()
  return type === 'application/json' ? undefined : 'The request must be application/json.'
}
