/** The HTTP server of an API: each address of its name, bodies up to a limit, and an end in bounded time. */
import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createRoom } from '../../../dispatch/room.ts'
import { noRoom, readBody } from '../../../listener/request.ts'
import { closable } from '../../../support/net/closable-server.ts'
import { isEveryAddress } from '../../../support/net/hosts.ts'
import { inBackground } from '../../../support/work/work.ts'

export interface ApiAnswer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  /** @default empty */
  readonly body?: string
}

/** Answers a request. Where it rejects, the connection is cut. */
export type Answerer = (request: IncomingMessage) => Promise<ApiAnswer>

export type ApiServer = ReturnType<typeof createApiServer>

const requestTimeout = 30_000
/** Longer than clients keep an idle connection. */
const keepAliveTimeout = 72_000
/** Most connections of each listening address. One more is closed as it opens. */
const maxConnections = 1_024
const maxUnfinishedBytes = 64 * 1024 * 1024
/** Of all requests together. */
const unfinished = createRoom(maxUnfinishedBytes)

/** Does not listen yet. Fastify, which the listener has, takes 38 ms of processor time and 7 MB more in a process without a listener. */
export function createApiServer(answer: Answerer) {
  const closers: (() => Promise<void>)[] = []

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { status, headers = {}, body } = await answer(request)
    response.statusCode = status
    response.setHeaders(new Map(Object.entries(headers)))
    // Head and body at once: so Node knows the length.
    response.end(body)
  }

  async function open(host: string, port: number): Promise<AddressInfo> {
    const server = createServer({ requestTimeout, keepAliveTimeout }, (request, response) => {
      inBackground(respond(request, response), () => response.destroy())
    })
    server.maxConnections = maxConnections
    // A client may send many requests at once, each of which listens to the end of its connection.
    server.on('connection', (socket) => socket.setMaxListeners(0))
    closers.push(closable(server).close)
    server.listen({ host, port })
    await once(server, 'listening')
    // A server that listens on TCP has an address of this kind.
    return server.address() as AddressInfo
  }

  return {
    /**
     * Resolves with the base URL. `localhost` may be an address of IPv4 and one of IPv6: then it listens at the first one, and at the
     * other where that is possible. Node alone would listen at the first one, and a client may try the other.
     *
     * @throws the error of Node's `listen`, where the port is taken for instance
     */
    async listen({ host, port }: { readonly host: string; readonly port: number }): Promise<string> {
      const found = host === 'localhost' ? await lookup(host, { all: true }) : []
      const [first = host, ...others] = found.map(({ address }) => address)
      const at = await open(first, port)
      await Promise.allSettled(others.map((address) => open(address, at.port)))
      return `http://${reachable(at)}:${at.port}`
    },
    /** Frees the ports. Requests under way may finish within a second. */
    async close(): Promise<void> {
      await Promise.all(closers.map((close) => close()))
    },
  }
}

/** An address as the host of a URL. No client can use the address that stands for all addresses. */
function reachable({ address, family }: AddressInfo): string {
  if (family === 'IPv6') return isEveryAddress(address) ? '[::1]' : `[${address}]`
  return isEveryAddress(address) ? '127.0.0.1' : address
}

/**
 * The body of a request. `noRoom` where the unfinished bodies take all their room. `undefined` where the body is over the limit (in bytes),
 * or was cut off; in the second case nobody waits for an answer.
 */
export function bodyOf(request: IncomingMessage, limit: number): Promise<Buffer | typeof noRoom | undefined> {
  return new Promise((resolve) => {
    const share = unfinished.occupy(0)
    const done: Parameters<typeof readBody>[2] = (_error, body) => {
      share.release()
      resolve(Buffer.isBuffer(body) || body === noRoom ? body : undefined)
    }
    readBody(request, limit, done, (bytes) => share.grow(bytes))
  })
}
