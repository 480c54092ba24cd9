/** How a request is answered that no service can read, and how much of a body is still taken before an early answer. */
import { type Server as HttpServer, type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Server as HttpsServer } from 'node:https'
import type { Duplex } from 'node:stream'

/** Limits of a port's connections. Times are real milliseconds. */
export const connectionLimits = {
  /** Further connections are closed at once. */
  connections: 4096,
  /** For the TLS handshake. */
  handshakeMs: 30_000,
  /** For a request's headers. */
  headersMs: 30_000,
  /** For a whole request. */
  requestMs: 120_000,
  /** Between two requests. */
  idleMs: 72_000,
}

export type ConnectionLimits = Readonly<typeof connectionLimits>

export const serverOptions = ({ headersMs, requestMs, idleMs }: ConnectionLimits) => ({
  headersTimeout: headersMs,
  requestTimeout: requestMs,
  keepAliveTimeout: idleMs,
  // How often Node checks these limits.
  connectionsCheckingInterval: Math.min(headersMs, 5000),
  // A route refuses a request without a host, in Azure's form.
  requireHostHeader: false,
})

/** What is answered where no route answers. */
export interface Refusal {
  readonly status: number
  readonly code: string
  readonly message: string
}

/** Answers that no route gives, in the words of Azure. */
export const refusals = {
  unreadable: { status: 400, code: 'BadRequest', message: 'The request could not be read.' },
  longHeaders: { status: 400, code: 'BadRequest', message: 'The size of the request headers is too long.' },
  badUrl: { status: 400, code: 'BadRequest', message: 'The request URI is malformed.' },
  webPage: {
    status: 403,
    code: 'Forbidden',
    message:
      'The emulator refuses requests of web pages other than its own: of another origin, or of a host name that is not its own.',
  },
  httpsRequired: { status: 403, code: 'HttpsRequired', message: 'The resource can only be reached over https.' },
  noPath: {
    status: 404,
    code: 'NotFound',
    message:
      'The emulator has no such path over http. There are: POST /topics/{topic}/api/events; POST /namespaces/{namespace}/topics/' +
      '{topic}:publish, and what follows /namespaces/ in pull delivery; GET / (the page). Resource Manager and Entra are on ' +
      'the https port.',
  },
  noProxy: {
    status: 405,
    code: 'MethodNotAllowed',
    message: "The requested resource does not support http method 'CONNECT'.",
  },
  late: { status: 408, code: 'RequestTimeout', message: 'The request did not come in time.' },
  expectation: {
    status: 417,
    code: 'ExpectationFailed',
    message: 'The expectation in the Expect header cannot be met.',
  },
  internal: {
    status: 500,
    code: 'InternalServerError',
    message:
      'The operation failed due to an internal server error. The initial state of the impacted resources (if any) ' +
      'are restored.',
  },
} as const satisfies Readonly<Record<string, Refusal>>

const refusalOfError: Readonly<Record<string, Refusal>> = {
  HPE_HEADER_OVERFLOW: refusals.longHeaders,
  ERR_HTTP_REQUEST_TIMEOUT: refusals.late,
}

/** Answers an unreadable request in Azure's form and closes the connection: a listener for `clientError`. */
export function answerClientError(error: NodeJS.ErrnoException, socket: Duplex): void {
  const { code = '' } = error
  // All other errors are connection errors; bytes written before a TLS handshake would wait for it forever.
  if (!/^(HPE|ERR_HTTP)_/.test(code) || socket.destroyed) {
    socket.destroy()
    return
  }
  // What follows is as unreadable. A client that still writes it would see a broken connection in place of the answer.
  if (socket.writableEnded) return
  socket.end(rawAnswer(refusalOfError[code] ?? refusals.unreadable))
  const last = setTimeout(() => socket.destroy(), takeRestMs)
  socket.once('close', () => clearTimeout(last))
}

/** Bounds a server's connections, and makes it refuse in Azure's form where Node has an answer of its own. */
export function guardServer(server: HttpServer | HttpsServer, limits: ConnectionLimits): void {
  server.maxConnections = limits.connections
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    response.setHeader('connection', 'close')
    sendRefusal(request, response, 'expectation')
  })
}

export function refuseConnect(server: HttpServer | HttpsServer): void {
  server.on('connect', (_request: IncomingMessage, socket: Duplex) => {
    socket.on('error', () => socket.destroy())
    socket.end(rawAnswer(refusals.noProxy))
  })
}

/** Answers a request that no route handles, in Azure's form, once its body was taken. */
export function sendRefusal(request: IncomingMessage, response: ServerResponse, name: keyof typeof refusals): void {
  const body = bodyOf(refusals[name])
  void takeRest(request).then(() => response.writeHead(refusals[name].status, headersOf(body)).end(body))
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

/** The longest time, in milliseconds. */
export const takeRestMs = 10_000

const limits = { bytes: 64 * 1024 * 1024, silenceMs: 1_000 } as const

/**
 * Takes what is on its way of a request's body, and drops it. A client that still writes would see a broken connection in place of
 * the answer. Resolves at the end of the body, at a limit, or when the client has gone.
 */
export async function takeRest(request: IncomingMessage): Promise<void> {
  // One of `app.inject` has no `complete`.
  if (request.complete || request.readableEnded || request.destroyed) return
  const { promise, resolve } = Promise.withResolvers<void>()
  let bytes = 0
  const total = setTimeout(resolve, takeRestMs)
  const silence = setTimeout(resolve, limits.silenceMs)
  const count = (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > limits.bytes) resolve()
    silence.refresh()
  }
  const ends = ['end', 'close', 'error'] as const
  request.on('data', count)
  for (const end of ends) request.on(end, resolve)
  request.resume()
  await promise
  clearTimeout(total)
  clearTimeout(silence)
  request.off('data', count)
  for (const end of ends) request.off(end, resolve)
}
