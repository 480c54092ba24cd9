import { type Server as HttpServer, type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Server as HttpsServer } from 'node:https'
import type { Duplex } from 'node:stream'

/** How many connections a port takes, and how long one may keep it waiting. Times are real milliseconds. */
export interface ConnectionLimits {
  /** More are closed at once. */
  readonly connections: number
  /** For the TLS handshake, and for a request's headers; a connection that has never sent anything ends then. */
  readonly headersMs: number
  /** For a whole request. */
  readonly requestMs: number
  /** Between two requests. */
  readonly idleMs: number
}

/** What the emulator's ports take. */
export const connectionLimits: ConnectionLimits = {
  connections: 4096,
  headersMs: 30_000,
  requestMs: 120_000,
  idleMs: 72_000,
}

/** The limits as options of Node's servers. */
export const serverOptions = ({ headersMs, requestMs, idleMs }: ConnectionLimits) => ({
  headersTimeout: headersMs,
  requestTimeout: requestMs,
  keepAliveTimeout: idleMs,
  // How often Node looks for who is late.
  connectionsCheckingInterval: Math.min(headersMs, 5000),
  // A request without a host is answered like any other, in Azure's form.
  requireHostHeader: false,
})

interface Refusal {
  readonly status: number
  readonly code: string
  readonly message: string
}

const unreadable: Refusal = { status: 400, code: 'BadRequest', message: 'The request could not be read.' }
const refusals: Readonly<Record<string, Refusal>> = {
  HPE_HEADER_OVERFLOW: { status: 400, code: 'BadRequest', message: 'The size of the request headers is too long.' },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, code: 'RequestTimeout', message: 'The request did not come in time.' },
}
const expectation: Refusal = {
  status: 417,
  code: 'ExpectationFailed',
  message: 'The expectation in the Expect header cannot be met.',
}
const noProxy: Refusal = {
  status: 405,
  code: 'MethodNotAllowed',
  message: "The requested resource does not support http method 'CONNECT'.",
}

/** Answers bytes that are no request, in Azure's form, and closes: a listener for `clientError`. */
export function answerClientError(error: NodeJS.ErrnoException, socket: Duplex): void {
  const { code = '' } = error
  // Anything else is about the connection; what is written before a TLS handshake would wait for it for ever.
  const answerable = /^(HPE|ERR_HTTP)_/.test(code) && socket.writable
  if (answerable) socket.end(rawAnswer(refusals[code] ?? unreadable))
  else socket.destroy()
}

/** Bounds a server's connections, and has it answer in Azure's form where Node would by itself. */
export function guardServer(server: HttpServer | HttpsServer, limits: ConnectionLimits): void {
  server.maxConnections = limits.connections
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    request.resume()
    const body = bodyOf(expectation)
    response.writeHead(expectation.status, { ...headersOf(body), connection: 'close' }).end(body)
  })
}

/** Has a server that is no proxy say so. */
export function refuseConnect(server: HttpServer | HttpsServer): void {
  server.on('connect', (_request: IncomingMessage, socket: Duplex) => {
    socket.on('error', () => socket.destroy())
    socket.end(rawAnswer(noProxy))
  })
}

const bodyOf = ({ code, message }: Refusal) => JSON.stringify({ error: { code, message } })

const headersOf = (body: string) => ({
  'content-type': 'application/json; charset=utf-8',
  'content-length': Buffer.byteLength(body),
})

function rawAnswer(refusal: Refusal): string {
  const body = bodyOf(refusal)
  const lines = Object.entries({ ...headersOf(body), connection: 'close' }).map(([name, value]) => `${name}: ${value}`)
  return [`HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status] ?? ''}`, ...lines, '', body].join('\r\n')
}
