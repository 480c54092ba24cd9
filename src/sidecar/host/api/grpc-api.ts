/** Dapr's gRPC API of `run`: its methods and its errors. */
import { type handleUnaryCall, Server, type ServerUnaryCall, status } from '@grpc/grpc-js'
import { shownMessage } from '../../../core/errors.ts'
import { readTraceContext } from '../../../core/telemetry.ts'
import { isOwnHost } from '../../../support/net/hosts.ts'
import { isSameText } from '../../../support/text/text.ts'
import { createPeers, serverOptions, statusDetails } from '../../shared/grpc.ts'
import { boundNames, invokePayload, refuseTooManyNames, whileAwaited } from '../../shared/invoke.ts'
import { OutputCallError } from '../call-output.ts'
import { type ApiOptions, apiMetadata } from './bindings-api.ts'
import { type InvokeBindingRequest, loadRuntimeContract } from './runtime-contract.ts'

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

  // gRPC itself answers UNIMPLEMENTED to Dapr's other methods.
  server.addService(Dapr, {
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
  })

  return {
    /** Resolves with the port. */
    listen: (at: { readonly host: string; readonly port: number }) => peers.listen(at),
    /** Ends the server in bounded time, whatever its callers do. */
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
