import { once } from 'node:events'
import { createServer } from 'node:net'
import { type Server as GrpcServer, ServerCredentials } from '@grpc/grpc-js'
import { type ClosableServer, closable } from '../support/closable-server.ts'

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
  const listening: ClosableServer[] = []

  return {
    async listen(path) {
      const one = createServer((socket) => injector.injectConnection(socket))
      const closing = closable(one, { onRefused })
      one.listen(path)
      await once(one, 'listening')
      listening.push(closing)
    },
    async close(patienceMs) {
      const closed = listening.map((one) => one.close(patienceMs))
      // What it says of its end is too early, for it does not know of all connections.
      server.tryShutdown(() => {})
      await Promise.all(closed)
    },
  }
}
