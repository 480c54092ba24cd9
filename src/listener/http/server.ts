/** The bounds of the HTTP server, and the answers to what is no request. */
import {
  createServer as createHttpServer,
  type ServerOptions as HttpOptions,
  type Server,
  STATUS_CODES,
} from 'node:http'
import type { Socket } from 'node:net'
import { type FastifyReply, fastify } from 'fastify'
import type { QuietLog } from '../../core/quiet-log.ts'
import { type ClosableServer, closable } from '../../support/net/closable-server.ts'
import { codeOf, messageOf } from '../../support/process/error-code.ts'
import { oneLine } from '../../support/text/text.ts'
import { type Clock, within } from '../../support/time/clock.ts'
import { defaultPath, type PathCheck } from '../paths.ts'
import { problemAnswer } from './answer.ts'
import { addressOf, type Bindable, backlog, bindable } from './listen.ts'

/** Bounds of the server; each may be narrowed. */
export interface ServerLimits {
  /** Bytes of a request's head. Delivery attributes alone may take 10 times 4,096 bytes; Node's own limit is 16 KiB. @default 65_536 */
  readonly maxHeaderBytes: number
  /** Milliseconds from the opening of the connection to the end of the head. @default 10_000 */
  readonly headersTimeoutMs: number
  /** Milliseconds to the end of the request. Event Grid gives up after 30 s. @default 30_000 */
  readonly requestTimeoutMs: number
  /** Milliseconds between two checks of these two bounds. @default 5_000 */
  readonly checkIntervalMs: number
  /** Milliseconds without traffic on a connection, whatever its state. Common proxies close an idle connection sooner. @default 120_000 */
  readonly connectionTimeoutMs: number
  /** Connections at once; more are closed when they are opened. @default 1_024, or 4 for each of `maxConcurrency` */
  readonly maxConnections: number
  /** Bytes of all unfinished bodies without proof, which are validation requests. @default 1_048_576 (1 MiB) in the whole process */
  readonly maxUnprovenBytes: number
}

export const serverDefaults: Omit<ServerLimits, 'maxConnections'> = {
  maxHeaderBytes: 65_536,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 30_000,
  checkIntervalMs: 5_000,
  connectionTimeoutMs: 120_000,
  maxUnprovenBytes: 1_048_576,
}

/** How long the hooks of a host may take when the server closes. As long as Fastify gives its plugins to load. */
const maxCloseMs = 10_000

export interface ServerOptions {
  readonly limits: ServerLimits
  readonly isOurPath: PathCheck
  readonly log: QuietLog
  readonly clock: Pick<Clock, 'setTimer'>
  /** Answers a path that the router cannot decode. */
  readonly onBadPath: (reply: FastifyReply) => void
}

/** Makes a Fastify server with our bounds. Both paths of the listener, in every spelling, arrive at the route `/api/events`. */
export function createServer({ limits, isOurPath, log, clock, onBadPath }: ServerOptions) {
  const http: HttpOptions = {
    maxHeaderSize: limits.maxHeaderBytes,
    headersTimeout: limits.headersTimeoutMs,
    connectionsCheckingInterval: limits.checkIntervalMs,
    // Node's own answer to a request without Host is 400, which ends an event.
    requireHostHeader: false,
  }
  const onBroken = (error: BrokenRequest, socket: Socket) => closeBroken(error, socket, log)
  const app = fastify({
    http,
    requestTimeout: limits.requestTimeoutMs,
    connectionTimeout: limits.connectionTimeoutMs,
    // A delivery during the drain gets the answer of our own table.
    return503OnClosing: false,
    clientErrorHandler: onBroken,
    // Fastify's own answer is 400, which ends an event.
    frameworkErrors: (_error, _request, reply) => onBadPath(reply),
    // The router takes `:` and `*` for patterns, and subscriberEndpoint may hold them.
    rewriteUrl: ({ url = '' }) => (url === defaultPath || !isOurPath(url) ? url : defaultPath),
  })
  const guarded: ClosableServer[] = []
  /** Connections that have brought no delivery with proof, the oldest first. */
  const unproven = new Set<Socket>()
  const appServer = guard(app.server)
  let isAppUsed = false

  /** Settings that Fastify has no option for. */
  function guard(server: Server): ClosableServer {
    const { maxConnections } = limits
    server.maxConnections = maxConnections
    // `connectionTimeoutMs` bounds the idle time between two requests too. A second bound would set two timers for each request. Fastify
    // takes the option 0 for its default.
    server.keepAliveTimeout = 0
    server.on('drop', () => log.warn('refused a connection: too many are open', { maxConnections }))
    // Otherwise Node itself invites the body, or answers 417, before the head is judged.
    server.on('checkContinue', (request, response) => {
      if (!isOurPath(request.url ?? '')) response.writeContinue()
      app.routing(request, response)
    })
    server.on('checkExpectation', (request, response) => app.routing(request, response))
    const closing = closable(server, {
      onRefused: (error) => log.warn('could not accept a connection', { code: codeOf(error) ?? '' }),
    })
    guarded.push(closing)
    server.on('connection', (socket: Socket) => {
      unproven.add(socket)
      socket.once('close', () => unproven.delete(socket))
      // Strangers may connect again whenever they are cut off, so time limits alone would leave no room for others.
      const isFull = closing.connections() > maxConnections * 0.75 && unproven.size > Math.ceil(maxConnections / 8)
      const [oldest] = unproven
      if (isFull) oldest?.destroy()
    })
    return closing
  }

  function createSibling(): Bindable {
    const server = createHttpServer({ ...http, requestTimeout: limits.requestTimeoutMs }, (request, response) =>
      app.routing(request, response),
    )
    server.setTimeout(limits.connectionTimeoutMs)
    server.on('clientError', onBroken)
    return bindable(server, guard(server))
  }

  /** Frees the port. A hook of the host that fails or hangs must neither keep the rest open nor hide why `init` has failed. */
  async function close(): Promise<void> {
    const closed = app.close().catch((error: unknown) => {
      log.warn('a hook of the host failed while the listener closed', { error: oneLine(messageOf(error), 300) })
    })
    appServer.endConnections()
    if (await within(clock, maxCloseMs, closed)) return
    log.warn('the listener is closed, but a hook onClose or preClose of the host has not ended', {
      waitedMs: maxCloseMs,
    })
  }

  return {
    app,
    close,
    /** To be called with the connection of each request that has proof: it never makes room for others. */
    keep: (socket: Socket) => void unproven.delete(socket),
    /** Whether more than half of the connections are taken that a server may have. */
    isCrowded: () => guarded.some(({ connections }) => connections() > limits.maxConnections / 2),
    /** The server of the app at first. Then servers with the same bounds and routes: a name may have several addresses. */
    createBindable(): Bindable {
      if (isAppUsed) return createSibling()
      isAppUsed = true
      return {
        async listen(host, port) {
          await app.listen({ host, port, backlog })
          return addressOf(app.server)
        },
        closeIdleConnections: () => app.server.closeIdleConnections(),
        close,
      }
    },
  }
}

/**
 * Closes a connection whose bytes are not a valid request. An answer could be taken for that of a delivery that is still handled on the
 * same connection, so it is one that makes Event Grid try again (408, 431), or none.
 */
function closeBroken({ code = '', rawPacket }: BrokenRequest, socket: Socket, log: QuietLog): void {
  // Cut off by the sender.
  if (code === 'ECONNRESET' || code === 'HPE_INVALID_EOF_STATE' || !socket.writable) return void socket.destroy()
  const protocol = Buffer.isBuffer(rawPacket) ? otherProtocol(rawPacket) : undefined
  if (protocol === undefined) log.info('closed a connection: invalid HTTP request', { code })
  else
    log.warn(`closed a connection that speaks ${protocol}: set the backend protocol of the ingress to HTTP (HTTP/1.1)`)
  const answer = retried.get(code)
  if (answer === undefined) socket.destroy()
  else socket.end(answer, () => socket.destroy())
}

/** An error of Node's HTTP server, with the bytes that were read. */
interface BrokenRequest extends NodeJS.ErrnoException {
  readonly rawPacket?: unknown
}

/** What a balancer may speak in place of HTTP/1.1, by its first bytes. */
function otherProtocol(bytes: Buffer): string | undefined {
  const [first, second] = bytes
  if (first === 0x16 && second === 3) return 'TLS'
  const text = bytes.toString('latin1', 0, 16)
  if (text.startsWith('PRI * HTTP/2')) return 'HTTP/2'
  return text.startsWith('PROXY ') || text.startsWith('\r\n\r\n\0\r\nQUIT\n') ? 'the PROXY protocol' : undefined
}

/** Answers that make Event Grid try again. */
const retried: ReadonlyMap<string, string> = new Map([
  ['HPE_HEADER_OVERFLOW', rawProblem(431, 'The headers are too large.')],
  ['ERR_HTTP_REQUEST_TIMEOUT', rawProblem(408, 'The request took too long to arrive.')],
])

/** A problem as bytes, for a connection that has no request to answer. */
function rawProblem(status: number, detail: string): string {
  const { headers, body } = problemAnswer(status, detail, { connection: 'close' })
  const lines = Object.entries({ ...headers, 'content-length': body?.length }).map(
    ([name, value]) => `${name}: ${value}`,
  )
  return [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines, '', body?.toString() ?? ''].join('\r\n')
}
