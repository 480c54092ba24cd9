// Dapr's gRPC services loaded from `runtime.proto`.
import { fileURLToPath } from 'node:url'
import { loadDefinitions, serviceOf } from '../../shared/grpc-services.ts'

export interface InvokeBindingRequest {
  readonly name: string
  readonly data: Buffer
  readonly metadata: Readonly<Record<string, string>>
  readonly operation: string
}

/** Reads the services of `proto/runtime.proto`; takes a few milliseconds. */
export function loadRuntimeContract() {
  const definitions = loadDefinitions(fileURLToPath(new URL('./proto/runtime.proto', import.meta.url)))
  const service = (name: string) => serviceOf(definitions, `dapr.proto.runtime.v1.${name}`)
  return {
    Dapr: service('Dapr'),
    AppCallback: service('AppCallback'),
    AppCallbackHealthCheck: service('AppCallbackHealthCheck'),
  }
}
