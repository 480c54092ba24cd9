// Requests for a public name passed on by ingress; 502 text, 30 s limit.
import http, { type IncomingMessage, type ServerResponse } from 'node:http'
import https from 'node:https'
import { isLoopback } from '../../../../../src/support/net/hosts.ts'
import { isAzureHost } from './connect-proxy.ts'

/** Answers a request for a public name that the ingress serves, and says whether it did. */
export type IngressFront = (request: IncomingMessage, response: ServerResponse) => boolean

export interface IngressFrontOptions {
  /** Where a public URL is served; undefined: not here. */
  readonly ingress: (url: URL) => string | undefined
  /** The emulator's own https URL. */
  readonly ownAddress: () => string
}

const limitMs = 30_000

/**
 * Makes the emulator the ingress of its public names: a request whose host is one of them, with a certificate of the emulator's
 * authority, is passed on to where the ingress leads. So the whole way to a subscriber can be tried from outside, as in
 * `curl --resolve orders.example.com:443:127.0.0.1`. A request for the emulator's own port or for Azure's names is no such request.
 */
export function createIngressFront({ ingress, ownAddress }: IngressFrontOptions): IngressFront {
  return (request, response) => {
    const url = publicUrl(request, ownAddress())
    const target = url && ingress(url)
    if (url === undefined || target === undefined) return false
    passOn(request, response, { url, target: ledBy(url, target) })
    return true
  }
}

function publicUrl({ headers, url = '/' }: IncomingMessage, own: string): URL | undefined {
  const host = headers.host ?? ''
  const [, name = '', port = '443'] = /^(\[[\da-f:.]+\]|[^:[\]]+)(?::(\d{1,5}))?$/i.exec(host) ?? []
  const isOwn = port === new URL(own || 'https://localhost').port
  if (name === '' || isOwn || isLoopback(name) || isAzureHost(name.toLowerCase())) return undefined
  return URL.parse(url, `https://${host}`) ?? undefined
}

/** Where an ingress leads a URL. Path and query stay if the ingress names only a host. */
export function ledBy(url: URL, mapped: string): URL {
  const target = new URL(mapped)
  return target.pathname !== '/' || target.search ? target : new URL(url.pathname + url.search, target)
}

function passOn(
  request: IncomingMessage,
  response: ServerResponse,
  { url, target }: { readonly url: URL; readonly target: URL },
): void {
  const secured = target.protocol === 'https:'
  const sending = (secured ? https : http).request({
    host: target.hostname.replace(/^\[|\]$/g, ''),
    port: target.port || (secured ? 443 : 80),
    path: target.pathname + target.search,
    ...(secured && { servername: url.hostname }),
    ...{ method: request.method, headers: { ...request.headers, connection: 'close' }, agent: false, timeout: limitMs },
  })
  const refuse = () => {
    if (response.headersSent) return void response.destroy()
    response.writeHead(502, { 'content-type': 'text/plain', connection: 'close' })
    response.end(`The emulator's ingress rule sends this request to ${target.origin}, which does not answer.\n`)
  }
  sending.on('timeout', () => sending.destroy())
  sending.on('error', refuse)
  // No upgrade was requested. Node reports it by this event only.
  sending.on('upgrade', (_answer, socket) => {
    socket.destroy()
    refuse()
  })
  response.on('close', () => sending.destroy())
  sending.on('response', (answer) => {
    const { connection: _, ...headers } = answer.headers
    response.writeHead(answer.statusCode ?? 502, { ...headers, connection: 'close' })
    answer.on('error', () => response.destroy())
    answer.pipe(response)
  })
  request.pipe(sending)
}
