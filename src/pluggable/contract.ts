import { fileURLToPath } from 'node:url'
import { loadSync, type PackageDefinition, type ServiceDefinition } from '@grpc/proto-loader'

/** The texts of a component or of an event, by name. */
export type Texts = Readonly<Record<string, string>>

/** What both `Init`s are called with. */
export interface InitRequest {
  readonly metadata: { readonly properties: Texts } | null
}

/** An event on its way to the application. */
export interface EventMessage {
  readonly data: Buffer
  readonly metadata: Texts
  readonly contentType: string
  readonly messageId: string
}

/** The acknowledgement of an event; with an error it was not handled. */
export interface AckMessage {
  readonly messageId: string
  readonly responseError: { readonly message: string } | null
}

/** A call of an operation. */
export interface InvokeRequest {
  readonly data: Buffer
  readonly metadata: Texts
  readonly operation: string
}

/** What an operation answers. */
export interface InvokeResponse {
  readonly data: Buffer
  readonly metadata: Texts
  readonly contentType: string
}

/** The operations there are. */
export interface ListOperationsResponse {
  readonly operations: readonly string[]
}

/** A message without fields. */
export type Empty = Readonly<Record<string, never>>

/** The services of a pluggable binding, read from `proto/bindings.proto`. */
export interface Contract {
  /** Everything the file holds, for reflection. */
  readonly all: PackageDefinition
  readonly input: ServiceDefinition
  readonly output: ServiceDefinition
}

const protoPackage = 'dapr.proto.components.v1'

/** Reads the contract; takes a few milliseconds. */
export function loadContract(): Contract {
  // Every field of a message that was read is there, as the types above say.
  const all = loadSync(fileURLToPath(new URL('./proto/bindings.proto', import.meta.url)), { defaults: true })
  return { all, input: service(all, 'InputBinding'), output: service(all, 'OutputBinding') }
}

function service(all: PackageDefinition, name: string): ServiceDefinition {
  const definition = all[`${protoPackage}.${name}`]
  if (!definition || isType(definition)) throw new Error(`proto/bindings.proto holds no service ${name}`)
  return definition
}

const isType = (definition: PackageDefinition[string]): definition is Exclude<typeof definition, ServiceDefinition> =>
  'format' in definition
