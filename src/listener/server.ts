/** The HTTP server: its bounds, the answers to bytes that are not HTTP, and how its port is opened. */
import { STATUS_CODES } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { type FastifyInstance, type FastifyReply, fastify } from 'fastify'
import { BindingError, type BindingErrorParts } from '../core/errors.ts'
import type { QuietLog } from '../core/logger.ts'
import { outsideOfCaller } from '../core/telemetry.ts'
import { closable } from '../support/net/closable-server.ts'
import { codeOf, messageOf } from '../support/process/error-code.ts'
import { oneLine } from '../support/text/text.ts'
import { type Clock, pause, systemClock, within } from '../support/time/clock.ts'
import { defaultPath, type PathCheck, problemAnswer } from './request.ts'

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
}

export const serverDefaults: Omit<ServerLimits, 'maxConnections'> = {
  maxHeaderBytes: 65_536,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 30_000,
  checkIntervalMs: 5_000,
  connectionTimeoutMs: 120_000,
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
  const app = fastify({
    http: {
      maxHeaderSize: limits.maxHeaderBytes,
      headersTimeout: limits.headersTimeoutMs,
      connectionsCheckingInterval: limits.checkIntervalMs,
      // Node's own answer to a request without Host is 400, which ends an event.
      requireHostHeader: false,
    },
    requestTimeout: limits.requestTimeoutMs,
    connectionTimeout: limits.connectionTimeoutMs,
    // A delivery during the drain gets the answer of our own table.
    return503OnClosing: false,
    clientErrorHandler: (error: NodeJS.ErrnoException, socket: Socket) => closeBroken(error, socket, log),
    // Fastify's own answer is 400, which ends an event.
    frameworkErrors: (_error, _request, reply) => onBadPath(reply),
    // The router takes `:` and `*` for patterns, and subscriberEndpoint may hold them.
    rewriteUrl: ({ url = '' }) => (url === defaultPath || !isOurPath(url) ? url : defaultPath),
  })
  const { server } = app
  const { maxConnections } = limits
  /** Connections that have brought no delivery with proof, the oldest first. */
  const unproven = new Set<Socket>()

  // What follows Fastify has no option for.
  server.maxConnections = maxConnections
  // `connectionTimeoutMs` bounds the idle time between two requests too. A second bound would set two timers for each request. Fastify
  // takes the option 0 for its default.
  server.keepAliveTimeout = 0
  server.on('drop', () => log.warn('refused a connection: too many are open', { maxConnections }))
  const closing = closable(server, {
    onRefused: (error) => log.warn('could not accept a connection', { code: codeOf(error) ?? '' }),
  })
  server.on('connection', (socket: Socket) => {
    // An answer that waits behind another listens to the end of its connection, and many may wait. Node would warn of a leak.
    socket.setMaxListeners(0)
    unproven.add(socket)
    socket.once('close', () => unproven.delete(socket))
    // Strangers may connect again whenever they are cut off, so time limits alone would leave no room for others.
    const isFull = closing.connections() > maxConnections * 0.75 && unproven.size > Math.ceil(maxConnections / 8)
    const [oldest] = unproven
    if (isFull) oldest?.destroy()
  })

  return {
    app,
    /** Accepts no more connections, and frees the port at once. Requests of the open connections go on. */
    stop: closing.stopAccepting,
    /** Ends the connections without a request, which may come back to another replica. */
    closeIdle: () => server.closeIdleConnections(),
    /**
     * Frees the port, and ends the rest. A hook of the host that fails or hangs keeps no port open, and does not hide why `init`
     * failed.
     */
    async close(): Promise<void> {
      const closed = app.close().catch((error: unknown) => {
        log.warn('a hook of the host failed while the listener closed', { error: oneLine(messageOf(error), 300) })
      })
      closing.endConnections()
      if (await within(clock, maxCloseMs, closed)) return
      log.warn('the listener is closed, but a hook onClose or preClose of the host has not ended', {
        waitedMs: maxCloseMs,
      })
    },
    /** To be called with the connection of each request that has proof: such a connection is never closed to make room for others. */
    keep: (socket: Socket) => void unproven.delete(socket),
    /** Whether more than half of the connections are taken. */
    isCrowded: () => closing.connections() > maxConnections / 2,
  }
}

/**
 * Closes a connection whose bytes are not a valid request. The sender could take an answer for the answer to a
 * delivery that is still handled on this connection. So the answer makes Event Grid try again (408, 431), or no answer is given.
 */
function closeBroken({ code = '' }: NodeJS.ErrnoException, socket: Socket, log: QuietLog): void {
  // Cut off by the sender.
  if (code === 'ECONNRESET' || code === 'HPE_INVALID_EOF_STATE' || !socket.writable) return void socket.destroy()
  log.info('closed a connection: its bytes are no request of HTTP/1.1', { code })
  const answer = retried.get(code)
  if (answer === undefined) socket.destroy()
  else socket.end(answer, () => socket.destroy())
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

/** Where to listen. */
export interface ListenAt {
  /**
   * An IP address: with a name Fastify would open further servers, without our bounds. Absent: `::`, which includes IPv4, or `0.0.0.0` on
   * a machine without IPv6.
   */
  readonly host: string | undefined
  /** 0 takes a free port. */
  readonly port: number
  /** How long a port in use is tried, in ms. */
  readonly freeingMs: number
}

/** How long a port in use is tried by default, in ms: another listener may be about to free the port, as where two components swap. */
export const freeingMs = 2_000
const tryAgainMs = 50

/**
 * Connections that the system queues until they are accepted (it may allow fewer). With Node's 511 a burst overflows the queue: the sender
 * believes that it is connected, and learns a second or more later that it is not.
 */
const backlog = 4_096

/**
 * Has a Fastify server listen, whose plugins are loaded.
 *
 * @throws BindingError PORT_UNAVAILABLE; the reason of `signal`
 */
export async function listen(app: FastifyInstance, at: ListenAt, signal: AbortSignal): Promise<AddressInfo> {
  const { host, port, freeingMs } = at
  const until = systemClock.elapsed() + freeingMs
  for (;;) {
    signal.throwIfAborted()
    try {
      return await (host === undefined ? listenEverywhere(app, port) : listenAt(app, host, port))
    } catch (error) {
      signal.throwIfAborted()
      if (codeOf(error) !== 'EADDRINUSE' || systemClock.elapsed() >= until)
        throw portUnavailable(error, host ?? '::', port)
    }
    await pause(systemClock, tryAgainMs, signal)
  }
}

async function listenEverywhere(app: FastifyInstance, port: number): Promise<AddressInfo> {
  try {
    return await listenAt(app, '::', port)
  } catch (error) {
    if (!hasNoIPv6.has(codeOf(error) ?? '')) throw error
    return listenAt(app, '0.0.0.0', port)
  }
}

const hasNoIPv6: ReadonlySet<string> = new Set(['EAFNOSUPPORT', 'EADDRNOTAVAIL', 'EINVAL'])

async function listenAt(app: FastifyInstance, host: string, port: number): Promise<AddressInfo> {
  // Else each handler would have the store of whoever called init or update.
  await outsideOfCaller(() => app.listen({ host, port, backlog }))
  const bound = app.server.address()
  if (bound === null || typeof bound === 'string') throw new Error('a server on TCP has no address')
  return bound
}

/** PORT_UNAVAILABLE with the fault and the remedy, by the system's code. */
function portUnavailable(cause: unknown, host: string, port: number): BindingError {
  const reason = codeOf(cause) ?? ''
  const known: Readonly<Record<string, Pick<BindingErrorParts, 'what' | 'fix'>>> = {
    EADDRINUSE: {
      what: `handshakePort ${port} is in use`,
      fix: `stop what listens there or choose another port, and ${routeIngress}`,
    },
    EACCES: {
      what: `handshakePort ${port} may not be opened by this user`,
      fix: `choose a port of 1024 or above, and ${routeIngress}`,
    },
    EADDRNOTAVAIL: {
      what: `listenAddress ${host} is not an address of this machine`,
      fix: 'leave listenAddress out, or name an address of this machine',
    },
  }
  const code = reason === '' ? '' : ` (${reason})`
  const other = { what: `cannot listen on ${host} port ${port}${code}`, fix: 'check handshakePort and listenAddress' }
  return new BindingError('PORT_UNAVAILABLE', { ...(known[reason] ?? other), cause, details: { port, host, reason } })
}

const routeIngress = "route the ingress to it (the emulator's: ingress in emulator.yaml)"
