/** Dapr's gRPC API of `run`: its methods and its errors. */
import {
  type handleUnaryCall,
  type MethodDefinition,
  Server,
  type ServerDuplexStream,
  type ServerUnaryCall,
  status,
} from '@grpc/grpc-js'
import { shownMessage } from '../../../core/errors.ts'
import { readTraceContext } from '../../../core/telemetry.ts'
import { isOwnHost } from '../../../support/net/hosts.ts'
import { isSameText } from '../../../support/text/text.ts'
import { whileAwaited } from '../../shared/caller-signal.ts'
import { createPeers, serverOptions } from '../../shared/grpc-peers.ts'
import { statusDetails } from '../../shared/grpc-services.ts'
import { invokePayload } from '../../shared/invoke-payload.ts'
import { boundNames, refuseTooManyNames } from '../../shared/metadata-names.ts'
import { type ApiOptions, apiMetadata } from '../api-metadata.ts'
import { OutputCallError } from './call-output.ts'
import { type InvokeBindingRequest, loadRuntimeContract } from './runtime-contract.ts'
import { unsupportedMethods } from './unsupported-methods.ts'

const maxMessageBytes = 4 * 1024 * 1024

const closeGraceMs = 1_000

/** The service `Dapr` over gRPC: InvokeBinding, GetMetadata and Shutdown. Does not listen yet. */
export function createGrpcApi(options: ApiOptions) {
  const { callOutput, onShutdown } = options
  const Dapr = boundNames(loadRuntimeContract().Dapr, 'InvokeBinding', 3)
  const server = new Server({ ...serverOptions, 'grpc.max_receive_message_length': maxMessageBytes })
  const peers = createPeers(server, { onRefused() {} })

  /** A handler for calls that may be made. */
  function guarded<Request, Response>(
    work: (call: ServerUnaryCall<Request, Response>) => Promise<Response> | Response,
  ): handleUnaryCall<Request, Response> {
    return async (call, callback) => {
      const refused = refusalOf(call, options)
      if (refused) return callback(refused)
      try {
        callback(null, await work(call))
      } catch (error) {
        const message = error instanceof OutputCallError ? error.message : shownMessage(error)
        callback({ code: status.INTERNAL, details: statusDetails(message) })
      }
    }
  }

  server.addService(
    { ...Dapr, ...Object.fromEntries(unsupportedMethods.map((name) => [name, unsupported(name)])) },
    {
      ...Object.fromEntries(unsupportedMethods.map((name) => [name, refuse(name, options)])),
      InvokeBinding: guarded(async (call: ServerUnaryCall<InvokeBindingRequest, object>) => {
        const { request, metadata } = call
        refuseTooManyNames(request)
        const { name, operation, data } = request
        // Dapr hands the caller's trace on to the component in the same way.
        const given = { ...request.metadata, ...readTraceContext(metadata.getMap()) }
        const answer = await whileAwaited(call, 'cancelled', (signal) =>
          callOutput({ name, operation, data: invokePayload(data), metadata: given, signal }),
        )
        return { metadata: answer.metadata }
      }),
      GetMetadata: guarded(() => {
        const { components: registeredComponents, extended: extendedMetadata, ...metadata } = apiMetadata(options)
        return { ...metadata, registeredComponents, extendedMetadata }
      }),
      Shutdown: guarded(() => {
        // The end of the process lets the answer out first.
        setImmediate(onShutdown)
        return {}
      }),
    },
  )

  return {
    /** Resolves with the port. */
    listen: (at: { readonly host: string; readonly port: number }) => peers.listen(at),
    /** Ends it in bounded time, whatever its callers do. */
    close: () => peers.close(closeGraceMs),
  }
}

/** The same rules as for the HTTP API. Browsers can't speak this protocol; a proxy beside us could for them. */
function refusalOf(call: Pick<ServerUnaryCall<unknown, unknown>, 'metadata' | 'getHost'>, options: ApiOptions) {
  const { token, listeningOn } = options
  if (token) {
    const given = String(call.metadata.get('dapr-api-token')[0] ?? '')
    if (isSameText(given, token.reveal())) return undefined
    return { code: status.UNAUTHENTICATED, details: 'invalid api token' }
  }
  if (isOwnHost({ protocol: 'http', headers: { host: call.getHost() } }, listeningOn)) return undefined
  const details = 'the authority does not name this machine: use localhost or an IP address, or set DAPR_API_TOKEN'
  return { code: status.PERMISSION_DENIED, details }
}

/** A method of any kind: on the wire the others are special cases of two streams. */
const unsupported = (name: string): MethodDefinition<Buffer, Buffer> => ({
  path: `/dapr.proto.runtime.v1.Dapr/${name}`,
  requestStream: true,
  responseStream: true,
  requestSerialize: (bytes) => bytes,
  requestDeserialize: (bytes) => bytes,
  responseSerialize: (bytes) => bytes,
  responseDeserialize: (bytes) => bytes,
})

function refuse(name: string, options: ApiOptions) {
  return (call: ServerDuplexStream<Buffer, Buffer>): void => {
    const details = `this host has no ${name}: it has Dapr's bindings and metadata API; for more run daprd`
    call.emit('error', refusalOf(call, options) ?? { code: status.UNIMPLEMENTED, details })
  }
}
