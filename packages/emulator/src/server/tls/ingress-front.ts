/** Which requests for a public name are passed on as a delivery would be, and what is answered where nobody is there. */
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
  /** Sends a request as a delivery is sent, by the ingress or to its own URL. Never rejects. */
  readonly deliver: (request: RoutedRequest) => Promise<RoutedAnswer>
}

export interface RoutedRequest {
  readonly method: 'OPTIONS' | 'POST'
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  readonly timeoutMs: number
  /** Whether to wait for the whole body of the answer. */
  readonly readAnswer: true
}

export interface RoutedAnswer {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** Why there is no answer. */
  readonly failure?: { readonly message: string; readonly hint?: string | undefined }
}

const limitMs = 30_000
const maxBodyBytes = 64 * 1024

/**
 * A request with this header goes where a delivery to its URL would go, whether an ingress rule leads it or not. So a client can ask who
 * is reachable for the emulator; an answer with the header says why nobody is.
 */
const routeHeader = 'x-eventgrid-emulator-route'

/**
 * Makes the emulator the ingress of its public names: a request whose host is one of them, with a certificate of the emulator's
 * authority, is passed on to where the ingress leads. So the whole way to a subscriber can be tried from outside, as in
 * `curl --resolve orders.example.com:443:127.0.0.1`. A request for the emulator's own port or for Azure's names is no such request.
 */
export function createIngressFront({ ingress, ownAddress, deliver }: IngressFrontOptions): IngressFront {
  return (request, response) => {
    const routed = request.headers[routeHeader] === 'delivery' ? urlOf(request) : undefined
    if (routed) {
      void deliverOn(request, response, routed, deliver)
      return true
    }
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

const urlOf = ({ headers: { host = '' }, url = '/' }: IncomingMessage) => URL.parse(url, `https://${host}`) ?? undefined

/** Not passed on: those of the connection, and the header that asked for this, so that no request goes round in a circle. */
const ownHeaders: ReadonlySet<string> = new Set([
  routeHeader,
  'host',
  'connection',
  'content-length',
  'transfer-encoding',
])

async function deliverOn(
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
  deliver: IngressFrontOptions['deliver'],
): Promise<void> {
  const refuse = (status: number, why: string) => {
    response.writeHead(status, { 'content-type': 'text/plain', connection: 'close', [routeHeader]: 'failed' })
    response.end(`${why}\n`)
  }
  try {
    const body = await textOf(request)
    if (request.method !== 'OPTIONS' && request.method !== 'POST')
      return refuse(405, 'Deliveries are OPTIONS and POST.')
    if (body === undefined) return refuse(413, 'The body is too long.')
    const headers = Object.entries(request.headers).flatMap(([name, value]) =>
      ownHeaders.has(name) || value === undefined ? [] : [[name, String(value)]],
    )
    const answer = await deliver({
      method: request.method,
      url,
      headers: Object.fromEntries(headers),
      ...(body !== '' && { body }),
      timeoutMs: limitMs,
      readAnswer: true,
    })
    if (answer.status === undefined) {
      const { message = 'There is no answer.', hint } = answer.failure ?? {}
      return refuse(502, hint === undefined ? message : `${message} (${hint})`)
    }
    const kept = Object.entries(answer.headers ?? {}).filter(([name]) => !ownHeaders.has(name))
    response.writeHead(answer.status, { ...Object.fromEntries(kept), connection: 'close' })
    response.end(answer.body)
  } catch {
    response.destroy()
  }
}

/** `undefined`: it is too long. Rejects where it breaks off. */
async function textOf(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request) {
    size += chunk.length
    if (size > maxBodyBytes) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
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
