/** How one port serves https and http, and which topic a port of a topic's own serves. */
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { createServer, type Server, type Socket } from 'node:net'
import { type ClosableServer, closable } from '../../../../src/support/net/closable-server.ts'

/** The first byte of a TLS handshake. No HTTP request begins with it. */
const tlsHandshake = 0x16

/** The ports of topics that clients reach by host and port alone: old SDKs take a host name only, and other emulators have such ports. */
export function createTopicPorts() {
  const names = new Map<number, string>()
  const servers: ClosableServer[] = []
  return {
    /** Binds the ports, by the names of their topics; resolves with their numbers. Connections go to one of two servers. */
    async listen(host: string, ports: Readonly<Record<string, number>>, https: Server, http: Server) {
      const bound: Record<string, number> = {}
      for (const [name, wanted] of Object.entries(ports)) {
        const server = createTwoServers(https, http)
        servers.push(closable(server))
        server.listen(wanted, host)
        await once(server, 'listening')
        const port = portOf(server)
        names.set(port, name)
        bound[name] = port
      }
      return bound
    },
    /** The path of the topic that a short path means; undefined for any other. */
    pathOf({ socket, url = '/' }: Pick<IncomingMessage, 'socket' | 'url'>): string | undefined {
      const [, first, rest] = /^(?:\/([^/?]+))?(\/api\/(?:events|health)(?:\?.*)?)$/.exec(url) ?? []
      const name = names.get(socket.localPort ?? 0) ?? first
      return rest === undefined || name === undefined || first === 'topics' ? undefined : `/topics/${name}${rest}`
    },
    close: () => Promise.all(servers.map((server) => server.close(0))),
  }
}

/** One port for two servers, which do not listen themselves or elsewhere. */
export const createTwoServers = (https: Server, http: Server): Server =>
  createServer((socket) => handOver(socket, https, http))

/** Waits for the first byte, which tells https from http. */
function handOver(socket: Socket, https: Server, http: Server): void {
  socket.on('error', () => socket.destroy())
  socket.setTimeout(30_000, () => socket.destroy())
  socket.once('readable', () => {
    const start: Buffer | null = socket.read()
    if (start === null) return void socket.destroy()
    socket.setTimeout(0)
    socket.removeAllListeners('timeout')
    socket.unshift(start)
    const server = start[0] === tlsHandshake ? https : http
    server.emit('connection', socket)
  })
}

export function portOf(server: Pick<Server, 'address'>): number {
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}
