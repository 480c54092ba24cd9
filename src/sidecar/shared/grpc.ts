/** What gRPC servers here share: definitions of services, the connections of a server and how they end, the bound of a status text. */
import { once } from 'node:events'
import { createServer, type ListenOptions } from 'node:net'
import { type Server as GrpcServer, ServerCredentials } from '@grpc/grpc-js'
import { fromJSON, type PackageDefinition, type ServiceDefinition } from '@grpc/proto-loader'
import { type ClosableOptions, type ClosableServer, closable } from '../../support/net/closable-server.ts'
import { cut } from '../../support/text/text.ts'

/**
 * The definitions of a `.proto` file, from its JSON form (`npm run definitions` writes it). Every field of a message that was
 * read has a value, its default where it was not sent.
 */
export function loadDefinitions(compiled: object): PackageDefinition {
  return fromJSON(Object(compiled), { defaults: true })
}

/** @param name its full name, with the package */
export function serviceOf(definitions: PackageDefinition, name: string): ServiceDefinition {
  const definition = definitions[name]
  if (!definition || isMessage(definition)) throw new Error(`the .proto file holds no service ${name}`)
  return definition
}

const isMessage = (
  definition: PackageDefinition[string],
): definition is Exclude<typeof definition, ServiceDefinition> => 'format' in definition

/**
 * A text as a status holds it. gRPC sends it percent-encoded in a header, whose bytes peers limit; half a surrogate pair can't be
 * encoded.
 */
export const statusDetails = (text: string): string => cut(text, 4_000).toWellFormed()

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
      // The callback comes too early: grpc-js does not know all connections.
      server.tryShutdown(() => {})
      await Promise.all(closed)
    },
  }
}
