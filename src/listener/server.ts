import { createServer as createHttpServer, type RequestListener, type Server } from 'node:http'
import type { Connections } from './connections.ts'
import { rawProblem } from './problem.ts'

/** Bounds of the server; each may be narrowed. */
export interface ServerLimits {
  /** Bytes of a request's head. Delivery attributes alone may take 10 times 4,096 bytes; Node's own limit is 16 KiB. @default 65_536 */
  readonly maxHeaderBytes: number
  /** Milliseconds until the head is there, from the opening of the connection. @default 10_000 */
  readonly headersTimeoutMs: number
  /** Milliseconds until the whole request is there. Event Grid gives up after 30 s, so one that takes longer is lost anyway. @default 30_000 */
  readonly requestTimeoutMs: number
  /** Milliseconds between two looks at the two bounds above. @default 5_000 */
  readonly checkIntervalMs: number
  /**
   * Milliseconds a connection may be idle between two requests. Longer than the minute after which common proxies close one, so
   * that they do it and no request meets a closing connection. @default 75_000
   */
  readonly keepAliveTimeoutMs: number
  /** Milliseconds in which nothing moves on a connection, whatever state it is in. @default 120_000 */
  readonly connectionTimeoutMs: number
  /** Connections at once. @default 1_024, or 4 for each of `maxConcurrency` */
  readonly maxConnections: number
  /** Bytes of all bodies together that are not there to the last byte. @default 67_108_864 (64 MiB), or 4 times `maxRequestBytes` */
  readonly maxUnfinishedBytes: number
}

export const serverDefaults: Omit<ServerLimits, 'maxConnections' | 'maxUnfinishedBytes'> = {
  maxHeaderBytes: 65_536,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 30_000,
  checkIntervalMs: 5_000,
  keepAliveTimeoutMs: 75_000,
  connectionTimeoutMs: 120_000,
}

export interface ServerOptions {
  readonly limits: ServerLimits
  readonly connections: Connections
  /** Takes every request, whatever its method and path. */
  readonly onRequest: RequestListener
  /** A connection brought what is no request: the status it was answered. */
  readonly onBroken: (status: number) => void
}

/** A bare server of Node: a framework's router would decode paths, and read colons and stars as patterns. */
export function createServer({ limits, connections, onRequest, onBroken }: ServerOptions): Server {
  const server = createHttpServer(
    {
      maxHeaderSize: limits.maxHeaderBytes,
      headersTimeout: limits.headersTimeoutMs,
      requestTimeout: limits.requestTimeoutMs,
      connectionsCheckingInterval: limits.checkIntervalMs,
      keepAliveTimeout: limits.keepAliveTimeoutMs,
    },
    onRequest,
  )
  server.setTimeout(limits.connectionTimeoutMs)
  connections.watch(server)
  // Otherwise Node itself invites the body, or answers 417, before anybody has looked at the head.
  server.on('checkContinue', onRequest)
  server.on('checkExpectation', onRequest)
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    // Cut off in the middle of a request: nobody listens, and a 400 that still got through would make Event Grid drop the event.
    const { code = '' } = error
    if (code === 'ECONNRESET' || code === 'HPE_INVALID_EOF_STATE' || !socket.writable) return void socket.destroy()
    const [status, detail] = clientErrors.get(code) ?? [400, 'The request is not HTTP.']
    onBroken(status)
    // Behind a request whose answer is still due, ours would be taken for that: no answer, and the event comes again.
    if (connections.of(socket)?.owesAnswer()) socket.destroy()
    else socket.end(rawProblem(status, detail), () => socket.destroy())
  })
  return server
}

const clientErrors: ReadonlyMap<string, readonly [status: number, detail: string]> = new Map([
  ['HPE_HEADER_OVERFLOW', [431, 'The headers are too large.']],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', [413, 'The chunk extensions are too large.']],
  ['ERR_HTTP_REQUEST_TIMEOUT', [408, 'The request took too long to arrive.']],
])
