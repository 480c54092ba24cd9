/** Where a tunnel leads: an HTTP server with a path of its own for each probe, which answers as the probe wants. */
import { randomUUID } from 'node:crypto'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { isRecord, readJson } from '../../../src/support/text/json-text.ts'
import type { WireClock } from '../wire/wire-clock.ts'

export interface PushCall {
  /** By the clock of the run. */
  readonly at: number
  readonly method: string
  /** Path and query. */
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly text: string
  /** The JSON of the text; `undefined` where it has none. */
  readonly body: unknown
}

export interface PushAnswer {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

export interface PushOptions {
  /** How deliveries are answered; `index` counts them from 0. @default 200 */
  readonly deliveries?: (call: PushCall, index: number) => PushAnswer
  /** How handshakes are answered, which may take a while. @default with consent */
  readonly handshake?: (call: PushCall, index: number) => PushAnswer | Promise<PushAnswer>
}

export interface PushEndpoint {
  /** The public URL, with a query that has to come back. */
  readonly url: string
  readonly handshakes: readonly PushCall[]
  readonly deliveries: readonly PushCall[]
}

export interface PushListener {
  readonly port: number
  open(options?: PushOptions): PushEndpoint
  /** Sends what comes under a URL to a local port, until it is ended. */
  forward(port: () => number | undefined): { readonly url: string; end(): void }
  /** Whether the public URL leads here, as `ask` finds out by a GET. */
  readonly mark: { readonly path: string; readonly body: string }
  close(): Promise<void>
}

const maxBodyBytes = 2_097_152
const maxCalls = 1_000

/** Consent to a handshake of either schema. */
export function consent({ headers, body }: PushCall): PushAnswer {
  const origin = headers['webhook-request-origin']
  if (typeof origin === 'string') return { headers: { 'webhook-allowed-origin': origin, 'webhook-allowed-rate': '*' } }
  const code = validationOf(body)?.validationCode
  return { headers: { 'content-type': 'application/json' }, body: JSON.stringify({ validationResponse: code }) }
}

/** The data of a validation event. */
export function validationOf(body: unknown): Readonly<Record<string, unknown>> | undefined {
  const event: unknown = Array.isArray(body) ? body[0] : body
  return isRecord(event) && isRecord(event.data) ? event.data : undefined
}

const isHandshake = ({ method, headers }: PushCall) =>
  method === 'OPTIONS' || headers['aeg-event-type'] === 'SubscriptionValidation'

/** Listens; port 0 takes a free one. Rejects with Node's error where the port can't be bound. */
export async function openListener({
  port,
  publicUrl,
  clock,
}: {
  readonly port: number
  readonly publicUrl: string
  readonly clock: WireClock
}): Promise<PushListener> {
  const endpoints = new Map<string, { options: PushOptions; handshakes: PushCall[]; deliveries: PushCall[] }>()
  const forwards = new Map<string, () => number | undefined>()
  const mark = { path: `/mark/${randomUUID()}`, body: randomUUID() }

  async function answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const { pathname } = new URL(incoming.url ?? '/', publicUrl)
    if (pathname === mark.path) return void outgoing.end(mark.body)
    const forwarded = [...forwards].find(([path]) => pathname.startsWith(path))
    if (forwarded) return passOn(incoming, outgoing, forwarded[1]())
    const endpoint = endpoints.get(pathname)
    const text = await textOf(incoming)
    if (!endpoint || text === undefined) return void outgoing.writeHead(endpoint ? 413 : 404).end()
    const { method = '', url = '', headers } = incoming
    const call: PushCall = { at: clock.now(), method, url, headers, text, body: readJson(text) }
    const { options, handshakes, deliveries } = endpoint
    const list = isHandshake(call) ? handshakes : deliveries
    if (list.length < maxCalls) list.push(call)
    const answered = isHandshake(call)
      ? await (options.handshake ?? consent)(call, handshakes.length - 1)
      : (options.deliveries?.(call, deliveries.length - 1) ?? {})
    outgoing.writeHead(answered.status ?? 200, {
      'content-length': Buffer.byteLength(answered.body ?? ''),
      ...answered.headers,
    })
    outgoing.end(answered.body)
  }

  const server = createServer((incoming, outgoing) => {
    answer(incoming, outgoing).catch(() => outgoing.destroy())
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    // The tunnel's end is on this machine.
    server.listen(port, '127.0.0.1', () => resolve())
  })
  const address = server.address()
  return {
    port: typeof address === 'object' && address !== null ? address.port : port,
    mark,
    open(options = {}) {
      const path = `/probe/${randomUUID()}`
      const endpoint = { options, handshakes: [], deliveries: [] }
      endpoints.set(path, endpoint)
      return { url: `${publicUrl}${path}?asked=a%20b`, ...endpoint }
    },
    forward(to) {
      const path = `/product/${randomUUID()}`
      forwards.set(path, to)
      return { url: `${publicUrl}${path}`, end: () => void forwards.delete(path) }
    },
    async close() {
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}

async function textOf(incoming: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of incoming) {
    size += chunk.length
    if (size > maxBodyBytes) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

function passOn(incoming: IncomingMessage, outgoing: ServerResponse, port: number | undefined): void {
  if (port === undefined) return void outgoing.writeHead(503).end()
  const { method, url, headers } = incoming
  const sending = request({ host: '127.0.0.1', port, method, path: url, headers, agent: false })
  sending.on('error', () => (outgoing.headersSent ? outgoing.destroy() : outgoing.writeHead(502).end()))
  sending.on('response', (answered) => {
    outgoing.writeHead(answered.statusCode ?? 502, answered.headers)
    answered.on('error', () => outgoing.destroy())
    answered.pipe(outgoing)
  })
  incoming.on('error', () => sending.destroy())
  incoming.pipe(sending)
}

/** What has to lead to the listener, for the tools that people have. Nobody of this project has tried them with this tool. */
export const tunnelLines = (port: number): readonly string[] => [
  `Start one of these first; each prints the public URL (untested with this tool):`,
  `  cloudflared tunnel --url http://127.0.0.1:${port}`,
  `  ngrok http ${port}`,
  `  devtunnel host --port-numbers ${port} --allow-anonymous`,
]
