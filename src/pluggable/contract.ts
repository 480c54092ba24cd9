import { fileURLToPath } from 'node:url'
import { loadSync, type PackageDefinition, type ServiceDefinition } from '@grpc/proto-loader'
import protobuf from 'protobufjs'

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
  const file = fileURLToPath(new URL('./proto/bindings.proto', import.meta.url))
  const all = loadSync(file)
  const messages = protobuf.loadSync(file).resolveAll()
  const service = (name: string) =>
    withoutCopies(serviceOf(all, name), messages.lookupService(`${protoPackage}.${name}`))
  return { all, input: service('InputBinding'), output: service('OutputBinding') }
}

function serviceOf(all: PackageDefinition, name: string): ServiceDefinition {
  const definition = all[`${protoPackage}.${name}`]
  if (!definition || isType(definition)) throw new Error(`proto/bindings.proto holds no service ${name}`)
  return definition
}

const isType = (definition: PackageDefinition[string]): definition is Exclude<typeof definition, ServiceDefinition> =>
  'format' in definition

/** The loader's own methods copy each message, to and fro: a tenth of what an event takes in `serve`. */
function withoutCopies(service: ServiceDefinition, { methods }: protobuf.Service): ServiceDefinition {
  return Object.fromEntries(
    Object.entries(service).map(([name, definition]) => {
      const { resolvedRequestType: request, resolvedResponseType: response } = methods[name] ?? {}
      if (!request || !response) throw new Error(`proto/bindings.proto holds no method ${name}`)
      giveBytesDefaults(request)
      const requestDeserialize = (bytes: Buffer) => request.decode(bytes)
      // Bytes are Buffers in Node.
      const responseSerialize = (message: object) => response.encode(message).finish() as Buffer
      return [name, { ...definition, requestDeserialize, responseSerialize }]
    }),
  )
}

const noBytes = Buffer.alloc(0)

/** Every field of a message that was read is there, as the types above say; but bytes that nobody sent would be a list. */
function giveBytesDefaults({ fieldsArray, ctor }: protobuf.Type): void {
  for (const { name, type } of fieldsArray) if (type === 'bytes') Object.assign(ctor.prototype, { [name]: noBytes })
}
