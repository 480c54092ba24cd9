// What a sidecar does to a pluggable component, without a sidecar: Init of both sides, a Read that acknowledges at once, and
// `create` at a steady rate.
import { credentials, loadPackageDefinition, Metadata, type ServiceError } from '@grpc/grpc-js'
import { loadSync } from '@grpc/proto-loader'
import { answerLines, say, setup } from './json-lines.ts'

/** What `servers/sidecar.ts` is started with. */
export interface SidecarSetup {
  readonly socket: string
  /** The file of the gRPC services. */
  readonly proto: string
  readonly metadata: Readonly<Record<string, string>>
  /** What `create` publishes. */
  readonly payload: string
}

/** Calls of `create` a second, for so long. */
export interface CreateOrder {
  readonly rate: number
  readonly ms: number
}

/** What came of it. */
export interface SidecarFigures {
  readonly created: number
  readonly received: number
}

type Callback = (error: ServiceError | null) => void
interface Stream {
  on(event: 'data', listener: (message: { readonly messageId: string }) => void): void
  on(event: 'error', listener: (error: Error) => void): void
  write(message: object): void
}
interface Client {
  Init(request: object, metadata: Metadata, done: Callback): void
  Invoke(request: object, metadata: Metadata, done: Callback): void
  Read(metadata: Metadata): Stream
}

const { socket, proto, metadata: properties, payload } = setup<SidecarSetup>()
const ticksPerSecond = 20
const instance = new Metadata()
instance.set('x-component-instance', 'orders')

// The file is ours, and these are the services in it.
const services = loadPackageDefinition(loadSync(proto)) as unknown as {
  dapr: { proto: { components: { v1: Record<'InputBinding' | 'OutputBinding', new (...args: unknown[]) => Client> } } }
}
const { InputBinding, OutputBinding } = services.dapr.proto.components.v1
const open = (Service: typeof InputBinding) => new Service(`unix:${socket}`, credentials.createInsecure())
const [input, output] = [open(InputBinding), open(OutputBinding)]
const called = (call: (done: Callback) => void) =>
  new Promise<void>((resolve, reject) => call((error) => (error ? reject(error) : resolve())))

let received = 0
for (const side of [input, output]) await called((done) => side.Init({ metadata: { properties } }, instance, done))
const stream = input.Read(instance)
stream.on('error', () => {})
stream.on('data', ({ messageId }) => {
  received++
  stream.write({ messageId })
})
say({})

await answerLines(async ({ rate, ms }: CreateOrder): Promise<SidecarFigures> => {
  const data = Buffer.from(payload)
  const before = received
  const calls: Promise<void>[] = []
  let created = 0
  const started = performance.now()
  const { promise: over, resolve: end } = Promise.withResolvers<void>()
  const timer = setInterval(() => {
    const elapsed = Math.min(performance.now() - started, ms)
    for (const due = (elapsed / 1000) * rate; created < Math.floor(due); created++) {
      calls.push(called((done) => output.Invoke({ data, operation: 'create' }, instance, done)))
    }
    if (elapsed >= ms) end()
  }, 1000 / ticksPerSecond)
  await over
  clearInterval(timer)
  await Promise.all(calls)
  return { created, received: received - before }
})
