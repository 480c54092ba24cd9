import {
  Client,
  type ClientDuplexStream,
  type ClientUnaryCall,
  credentials,
  Metadata,
  type ServiceError,
} from '@grpc/grpc-js'
import type { MethodDefinition } from '@grpc/proto-loader'
import {
  type EventMessage,
  type InvokeRequest,
  type InvokeResponse,
  loadContract,
  type Texts,
} from '../../../src/sidecar/pluggable/grpc/contract.ts'

const contract = loadContract()

/** What daprd does with a pluggable component, one call at a time. */
export interface GrpcHost {
  init(side: 'input' | 'output', component: string, properties: Texts): Promise<void>
  read(component: string): Promise<ReadSession>
  invoke(component: string, request: Partial<InvokeRequest>, started?: (call: ClientUnaryCall) => void): Promise<Answer>
  operations(): Promise<unknown>
  ping(side: 'input' | 'output'): Promise<unknown>
  /** Names of the services, asked as daprd asks. */
  services(version: 'v1' | 'v1alpha'): Promise<string>
  close(): void
}

/** An answered Invoke. */
export type Answer = InvokeResponse

/** One open Read. */
export interface ReadSession {
  /** The events so far, oldest first. */
  readonly events: readonly EventMessage[]
  /** The next event that nobody has taken yet. */
  next(): Promise<EventMessage>
  acknowledge(event: EventMessage, error?: string): void
  /** Reads no more until `resume`. */
  pause(): void
  resume(): void
  cancel(): void
  /** Ends our half. */
  end(): void
  readonly ended: Promise<void>
}

/** Connects to a socket. */
export function connectHost(socket: string): GrpcHost {
  const limit = 80 * 1024 * 1024
  const client = new Client(`unix:${socket}`, credentials.createInsecure(), {
    'grpc.max_receive_message_length': limit,
    'grpc.max_send_message_length': limit,
    // A later process at the same path gets a connection of its own.
    'grpc.use_local_subchannel_pool': 1,
  })

  const unary = <Response>(
    { path, requestSerialize, responseDeserialize }: MethodDefinition<object, object>,
    component: string,
    request: object,
    started?: (call: ClientUnaryCall) => void,
  ) =>
    new Promise<Response>((resolve, reject) => {
      const done = (error: ServiceError | null, response?: Response) => {
        if (error) reject(error)
        else if (response) resolve(response)
      }
      const call = client.makeUnaryRequest(
        path,
        (message: object) => requestSerialize(message),
        // The contract gives messages as objects; the caller names their type.
        (bytes) => responseDeserialize(bytes) as Response,
        request,
        of(component),
        done,
      )
      started?.(call)
    })

  const method = (service: 'input' | 'output', name: string) => {
    const found = contract[service][name]
    if (!found) throw new Error(`no method ${name}`)
    return found
  }

  return {
    async init(side, component, properties) {
      await unary(method(side, 'Init'), component, { metadata: { properties } })
    },
    async read(component) {
      const { path, requestSerialize, responseDeserialize } = method('input', 'Read')
      const call = client.makeBidiStreamRequest(
        path,
        (message: object) => requestSerialize(message),
        (bytes) => responseDeserialize(bytes) as EventMessage,
        of(component),
      )
      return session(call)
    },
    invoke: (component, request, started) => unary(method('output', 'Invoke'), component, request, started),
    operations: () => unary(method('output', 'ListOperations'), '', {}),
    ping: (side) => unary(method(side, 'Ping'), '', {}),
    services(version) {
      const call = client.makeBidiStreamRequest(
        `/grpc.reflection.${version}.ServerReflection/ServerReflectionInfo`,
        (bytes: Buffer) => bytes,
        (bytes) => bytes.toString('latin1'),
      )
      // list_services is field 7, a string whose content does not matter.
      call.write(Buffer.from([(7 << 3) | 2, 0]))
      return new Promise((resolve, reject) => {
        call.once('data', (text: string) => {
          call.end()
          resolve(text)
        })
        call.once('error', reject)
      })
    },
    close: () => client.close(),
  }
}

function of(component: string): Metadata {
  const metadata = new Metadata()
  metadata.set('x-component-instance', component)
  return metadata
}

function session(call: ClientDuplexStream<object, EventMessage>): ReadSession {
  const events: EventMessage[] = []
  const waiters: ((event: EventMessage) => void)[] = []
  let taken = 0
  call.on('data', (event: EventMessage) => {
    events.push(event)
    const waiter = waiters.shift()
    if (!waiter) return
    taken++
    waiter(event)
  })
  const ended = new Promise<void>((resolve) => {
    call.once('end', resolve)
    call.on('error', () => resolve())
  })
  return {
    events,
    next() {
      const event = events[taken]
      if (!event) return new Promise((resolve) => waiters.push(resolve))
      taken++
      return Promise.resolve(event)
    },
    acknowledge: ({ messageId }, error) =>
      void call.write({ messageId, ...(error !== undefined && { responseError: { message: error } }) }),
    pause: () => void call.pause(),
    resume: () => void call.resume(),
    cancel: () => call.cancel(),
    end: () => call.end(),
    ended,
  }
}
