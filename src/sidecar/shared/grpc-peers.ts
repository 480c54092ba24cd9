/** The connections of gRPC servers: how much each may do at once, and how they end. */
import { once } from 'node:events'
import { createServer, type ListenOptions } from 'node:net'
import { type Server as GrpcServer, ServerCredentials } from '@grpc/grpc-js'
import { type ClosableOptions, type ClosableServer, closable } from '../../support/net/closable-server.ts'

/** Options of every gRPC server here: no statistics, and a bound on the calls at once of one connection. Its peer keeps more waiting. */
export const serverOptions = { 'grpc.enable_channelz': 0, 'grpc.max_concurrent_streams': 1_024 } as const

/** grpc-js alone waits for ever for a peer that is frozen: so connections are accepted here and given to it. */
export function createPeers(server: GrpcServer, { onRefused }: Required<ClosableOptions>) {
  const injector = server.createConnectionInjector(ServerCredentials.createInsecure())
  const listening: ClosableServer[] = []

  return {
    /** Accepts connections at a path or a port; resolves with the port, 0 for a path. Rejects where it can't listen. */
    async listen(at: ListenOptions): Promise<number> {
      const one = createServer((socket) => injector.injectConnection(socket))
      const closing = closable(one, { onRefused })
      one.listen(at)
      await once(one, 'listening')
      listening.push(closing)
      const address = one.address()
      return typeof address === 'object' && address ? address.port : 0
    },
    /** Stops listening, closes connections that are open after `graceMs` milliseconds, and resolves when all are closed. */
    async close(graceMs: number): Promise<void> {
      const closed = listening.map((one) => one.close(graceMs))
      // Its callback comes too early: it does not know all connections.
      server.tryShutdown(() => {})
      await Promise.all(closed)
    },
  }
}
