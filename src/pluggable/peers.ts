import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import { type Server as GrpcServer, ServerCredentials } from '@grpc/grpc-js'

/** Who connects to a gRPC server by its Unix domain sockets. */
export interface Peers {
  /** Takes connections at a path; rejects where that is not possible. */
  listen(path: string): Promise<void>
  /** Takes no more connections, and resolves when all have ended: those that their peers have not ended after `patienceMs` milliseconds are cut off. */
  close(patienceMs: number): Promise<void>
}

interface PeersOptions {
  /** The system could not hand a connection over. */
  readonly onRefused: (error: Error) => void
}

/** The gRPC server by itself waits for ever for a peer that does nothing any more: it asks for the end, and can't cut off. */
export function createPeers(server: GrpcServer, { onRefused }: PeersOptions): Peers {
  const injector = server.createConnectionInjector(ServerCredentials.createInsecure())
  const listening: Server[] = []
  const sockets = new Set<Socket>()

  function take(socket: Socket): void {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    injector.injectConnection(socket)
  }

  return {
    async listen(path) {
      const one = createServer(take)
      one.listen(path)
      await once(one, 'listening')
      // Without this a connection that could not be handed over would end the process.
      one.on('error', onRefused)
      listening.push(one)
    },
    async close(patienceMs) {
      const closed = listening.map((one) => new Promise((resolve) => one.close(resolve)))
      // What it says of its end is too early, for it does not know of all connections.
      server.tryShutdown(() => {})
      const timer = setTimeout(() => {
        for (const socket of sockets) socket.destroy()
      }, patienceMs)
      await Promise.all(closed)
      clearTimeout(timer)
    },
  }
}
