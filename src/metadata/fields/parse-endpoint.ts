/** Which URLs are accepted in `subscriberEndpoint`, `namespaceEndpoint` and `topicEndpoint`. */
import { isLoopback } from '../../support/net/hosts.ts'
import { BrokenRule } from './broken-rule.ts'

const maxUrlLength = 4096

/**
 * The public address of the input side, normalised; without a path it is `/api/events`.
 *
 * @throws BrokenRule for a URL that is not https, or has user info or a fragment
 */
export function parseSubscriberEndpoint(text: string): string {
  const url = parseUrl(text)
  if (url.protocol !== 'https:') {
    throw new BrokenRule('must be an https URL', 'Event Grid delivers over https with a valid certificate only')
  }
  if (url.pathname === '/') url.pathname = '/api/events'
  return url.href
}

/**
 * The address of a namespace, without a trailing slash.
 *
 * @throws BrokenRule for a URL that is not https, or has a query, user info or a fragment
 */
export function parseNamespaceEndpoint(text: string): string {
  const url = parseUrl(text)
  if (url.protocol !== 'https:') throw new BrokenRule('must be an https URL')
  if (url.search !== '') throw new BrokenRule('must not hold a query')
  return url.href.replace(/(?<!\/)\/+$/, '')
}

/**
 * The address of a custom topic, as it was given.
 *
 * @throws BrokenRule where it is not https (or http on loopback), has user info or a fragment, or leads to a namespace topic
 *   but not to publish
 */
export function parseTopicEndpoint(text: string): string {
  const url = parseUrl(text)
  if (/^\/topics\/[^/:]+\/?$/i.test(url.pathname)) {
    const fix = 'write it like https://<hostname>/topics/<topic>:publish'
    throw new BrokenRule('must end in :publish where it is that of a namespace topic', fix)
  }
  if (url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname))) return text
  const fix = 'http is for a topic on this machine only, at localhost, 127.0.0.1 or [::1]'
  throw new BrokenRule('must be an https URL', fix)
}

/** Whether an endpoint is that of a namespace topic (`.../topics/{topic}:publish`) and not of a custom topic. */
export function isNamespaceTopic(topicEndpoint: string): boolean {
  return /\/topics\/[^/]+:publish$/i.test(URL.parse(topicEndpoint)?.pathname ?? '')
}

function parseUrl(text: string): URL {
  if (text.length > maxUrlLength) throw new BrokenRule(`must be at most ${maxUrlLength} characters long`)
  // `URL` accepts addresses that other readers refuse, such as one with a missing slash.
  if (/[\s\\]/.test(text)) throw new BrokenRule('must hold neither white space nor a backslash')
  const url = /^https?:\/\//i.test(text) ? URL.parse(text) : null
  if (!url) throw new BrokenRule('must be an https URL', 'write it like https://<hostname>/api/events')
  if (/^[^/]*\/\/[^/?#]*@/.test(text)) throw new BrokenRule('must not hold user info', 'remove the part before the @')
  if (/[{}]/.test(url.hostname)) {
    const fix = 'only daprd and `run` fill in {uuid} and the like'
    throw new BrokenRule('must not hold braces in the name of its host', fix)
  }
  if (text.includes('#')) throw new BrokenRule('must not hold a fragment', 'take out the # and what follows')
  return url
}
