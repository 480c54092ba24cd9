import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import { type Server as GrpcServer, ServerCredentials } from '@grpc/grpc-js'

/** Who has connected to a gRPC server by its Unix domain sockets. */
export interface Connections {
  /** Takes connections at a path; rejects where that is not possible. */
  listen(path: string): Promise<void>
  /** Takes no more connections; those that are there stay. */
  refuse(): void
  /** Ends them all, and takes no more. */
  end(): void
}

interface ConnectionsOptions {
  /** The system could not hand a connection over. */
  readonly onRefused: (error: Error) => void
}

/** The server itself can end no connection whose peer does nothing any more: it waits until the peer ends it as well. */
export function createConnections(server: GrpcServer, { onRefused }: ConnectionsOptions): Connections {
  const injector = server.createConnectionInjector(ServerCredentials.createInsecure())
  const listening: Server[] = []
  const sockets = new Set<Socket>()

  function take(socket: Socket): void {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    injector.injectConnection(socket)
  }

  function refuse(): void {
    for (const one of listening.splice(0)) one.close()
  }

  return {
    async listen(path) {
      const one = createServer(take)
      one.listen(path)
      await once(one, 'listening')
      // Without this one such connection would end the process.
      one.on('error', onRefused)
      listening.push(one)
    },
    refuse,
    end() {
      refuse()
      for (const socket of sockets) socket.destroy()
    },
  }
}
