// One raw http request for `check`: 6 s limit, 64 KiB body, no redirects.
import http from 'node:http'
import https from 'node:https'
import { isIP } from 'node:net'
import type { SecureContext } from 'node:tls'

export interface Target {
  readonly address: string
  readonly port: number
}

/** The host of a URL, an IPv6 address without its brackets. */
export const bareHost = ({ hostname }: URL) => hostname.replace(/^\[|\]$/g, '')

export interface Probe {
  readonly url: URL
  readonly target: Target
  readonly method: 'OPTIONS' | 'POST' | 'GET'
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** What is trusted. @default Node's certificates */
  readonly secureContext?: SecureContext | undefined
  readonly signal: AbortSignal
}

/** An answer. Its texts are not trusted. */
export interface ProbeAnswer {
  readonly status: number
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>
  /** The first 64 KiB. */
  readonly body: string
}

const limitMs = 6_000
const maxBytes = 65_536

/**
 * Sends one request on a new connection, without a proxy, and follows no redirect. It sends no user agent: no source says which
 * one Event Grid sends. Rejects with Node's error or a TimeoutError if there is no answer.
 */
export function probe({ url, target, method, headers, body, secureContext, signal }: Probe): Promise<ProbeAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<ProbeAnswer>()
  const isTls = url.protocol === 'https:'
  const hostname = bareHost(url)
  const over = AbortSignal.timeout(limitMs)
  const request = (isTls ? https : http).request({
    ...{ host: target.address, port: target.port, method, path: `${url.pathname}${url.search}`, agent: false },
    ...(isTls && { servername: isIP(hostname) ? '' : hostname, ...(secureContext && { secureContext }) }),
    signal: AbortSignal.any([signal, over]),
    headers: {
      host: url.host,
      connection: 'close',
      ...headers,
      ...(body !== undefined && { 'content-length': String(Buffer.byteLength(body)) }),
    },
  })
  request.on('error', (error) => reject(over.aborted ? over.reason : error))
  // Nobody asked for an upgrade. Node then emits neither a response nor an error.
  request.on('upgrade', (response, socket) => {
    socket.destroy()
    resolve(answerOf(response, ''))
  })
  request.on('response', (response) => {
    const chunks: Buffer[] = []
    let size = 0
    const end = () => {
      resolve(answerOf(response, Buffer.concat(chunks).toString('utf8', 0, maxBytes)))
      request.destroy()
    }
    response.on('data', (chunk: Buffer) => {
      chunks.push(chunk)
      size += chunk.length
      if (size > maxBytes) end()
    })
    // A body that breaks off still counts.
    for (const name of ['end', 'error', 'aborted']) response.on(name, end)
  })
  request.end(body)
  return promise
}

function answerOf({ statusCode = 0, headers }: http.IncomingMessage, body: string): ProbeAnswer {
  const texts = Object.entries(headers).map(([name, value]) => [name, String([value].flat().join(', '))])
  return { status: statusCode, headers: Object.fromEntries(texts), body }
}
