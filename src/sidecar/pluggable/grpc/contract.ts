/** The gRPC messages and services of Dapr's pluggable bindings, from `proto/bindings.proto`. */
import { loadDefinitions, serviceOf } from '../../shared/grpc.ts'
import { boundNames } from '../../shared/invoke.ts'
import bindings from './proto/bindings.json' with { type: 'json' }

export type Texts = Readonly<Record<string, string>>

export interface InitRequest {
  readonly metadata: { readonly properties: Texts } | null
}

/** An event for the application. */
export interface EventMessage {
  readonly data: Buffer
  readonly metadata: Texts
  readonly contentType: string
  readonly messageId: string
}

/** The acknowledgement of an event. With an error the application has not handled it. */
export interface AckMessage {
  readonly messageId: string
  readonly responseError: { readonly message: string } | null
}

export interface InvokeRequest {
  readonly data: Buffer
  readonly metadata: Texts
  readonly operation: string
}

export interface InvokeResponse {
  readonly data: Buffer
  readonly metadata: Texts
  readonly contentType: string
}

/** The services of a pluggable binding, as `proto/bindings.proto` declares them. */
export function loadContract() {
  const all = loadDefinitions(bindings)
  const service = (name: string) => serviceOf(all, `dapr.proto.components.v1.${name}`)
  return { all, input: service('InputBinding'), output: boundNames(service('OutputBinding'), 'Invoke', 2) }
}
