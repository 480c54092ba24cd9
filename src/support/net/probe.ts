/** One connection, and one raw HTTP request on a connection of its own: to an address or through a proxy, bounded in time and bytes. */
import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import http from 'node:http'
import https from 'node:https'
import { connect, type IpcNetConnectOpts, isIP, type TcpNetConnectOpts } from 'node:net'
import type { SecureContext } from 'node:tls'
import { HttpsProxyAgent } from 'https-proxy-agent'
import { withLimit } from '../time/clock.ts'

export interface Target {
  readonly address: string
  readonly port: number
}

/** The host of a URL, an IPv6 address without its brackets. */
export const bareHost = ({ hostname }: URL) => hostname.replace(/^\[|\]$/g, '')

const portOf = ({ port, protocol }: URL) => Number(port || (protocol === 'https:' ? 443 : 80))

const maxAddresses = 8

/**
 * The addresses of a URL's host, eight at most. Rejects as Node's look-up does, or with the reason of the signal: a look-up itself can't be
 * aborted, and takes a minute where the name servers are silent.
 */
export async function targetsOf(url: URL, signal: AbortSignal): Promise<readonly Target[]> {
  const host = bareHost(url)
  const port = portOf(url)
  const looked = isIP(host)
    ? [{ address: host }]
    : await Promise.race([lookup(host, { all: true }), rejectedBy(signal)])
  const addresses = looked.map(({ address }) => address)
  return [...new Set(addresses)].slice(0, maxAddresses).map((address) => ({ address, port }))
}

/** Rejects with the reason of the signal when that aborts. */
function rejectedBy(signal: AbortSignal): Promise<never> {
  signal.throwIfAborted()
  return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }))
}

/** Connects to an address or a socket, and closes the connection again. Rejects with Node's error, or the reason of the signal. */
export async function tryConnection(to: TcpNetConnectOpts | IpcNetConnectOpts, signal?: AbortSignal): Promise<void> {
  const socket = connect(to)
  try {
    await once(socket, 'connect', { signal })
  } finally {
    socket.destroy()
  }
}

export interface Probe {
  readonly url: URL
  /** Where the host is. A proxy is told the name of the URL instead. @default where Node finds the host of the URL */
  readonly target?: Target | { readonly proxy: URL } | undefined
  readonly method: 'OPTIONS' | 'POST' | 'GET'
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** The name that the certificate must have. @default the host of the URL */
  readonly servername?: string | undefined
  /** What is trusted. @default Node's certificates */
  readonly secureContext?: SecureContext | undefined
  /** Whether any certificate will do. @default false */
  readonly takesAnyCertificate?: boolean
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
 * Sends one request on a new connection, without a user agent, and follows no redirect. Rejects with Node's error or a TimeoutError if
 * there is no answer.
 */
export const probe = ({ signal, ...request }: Probe): Promise<ProbeAnswer> =>
  withLimit({ ms: limitMs, signal }, (limited) => send({ ...request, signal: limited }))

function send(probe: Probe): Promise<ProbeAnswer> {
  const { url, target, method, headers, body, servername, secureContext, takesAnyCertificate = false, signal } = probe
  const { promise, resolve, reject } = Promise.withResolvers<ProbeAnswer>()
  const isTls = url.protocol === 'https:'
  const hostname = bareHost(url)
  const certified = servername ?? hostname
  let giveUp = () => reject(signal.reason)
  // Until the proxy has opened its tunnel, the request emits nothing when the signal aborts.
  signal.addEventListener('abort', () => giveUp(), { once: true })
  const to =
    target && 'proxy' in target
      ? { host: hostname, port: portOf(url), agent: new HttpsProxyAgent(target.proxy, { signal }) }
      : { host: target?.address ?? hostname, port: target?.port ?? portOf(url), agent: false as const }
  const request = (isTls ? https : http).request({
    ...to,
    method,
    path: `${url.pathname}${url.search}`,
    ...(isTls && { servername: isIP(certified) ? '' : certified, ...(secureContext && { secureContext }) }),
    rejectUnauthorized: !takesAnyCertificate,
    signal,
    headers: {
      host: url.host,
      connection: 'close',
      ...headers,
      ...(body !== undefined && { 'content-length': String(Buffer.byteLength(body)) }),
    },
  })
  request.on('error', reject)
  request.on('proxyConnect', ({ statusCode }: { readonly statusCode: number }) => {
    if (statusCode === 200) return
    const refusal = new Error(`the proxy answered ${statusCode} and opened no tunnel`)
    reject(Object.assign(refusal, { code: 'ERR_PROXY_TUNNEL' }))
    request.destroy()
  })
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
    // A body that breaks off, or does not end in time, still counts.
    giveUp = end
    for (const name of ['end', 'error', 'aborted']) response.on(name, end)
  })
  request.end(body)
  return promise
}

function answerOf({ statusCode = 0, headers }: http.IncomingMessage, body: string): ProbeAnswer {
  const texts = Object.entries(headers).map(([name, value]) => [name, [value].flat().join(', ')])
  return { status: statusCode, headers: Object.fromEntries(texts), body }
}
