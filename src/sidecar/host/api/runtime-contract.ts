/** Dapr's gRPC services, from `proto/runtime.proto`. */
import { loadDefinitions, serviceOf } from '../../shared/grpc.ts'
import runtime from './proto/runtime.json' with { type: 'json' }

export interface InvokeBindingRequest {
  readonly name: string
  readonly data: Buffer
  readonly metadata: Readonly<Record<string, string>>
  readonly operation: string
}

export function loadRuntimeContract() {
  const definitions = loadDefinitions(runtime)
  const service = (name: string) => serviceOf(definitions, `dapr.proto.runtime.v1.${name}`)
  return {
    Dapr: service('Dapr'),
    AppCallback: service('AppCallback'),
    AppCallbackHealthCheck: service('AppCallbackHealthCheck'),
  }
}
