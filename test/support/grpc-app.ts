import { promisify } from 'node:util'
import { type handleUnaryCall, type Metadata, Server, ServerCredentials, status } from '@grpc/grpc-js'
import { onTestFinished } from 'vitest'
import { daprService } from './dapr-protos.ts'

/** One event that the application was sent. */
export interface GrpcAppEvent {
  readonly name: string
  readonly data: Buffer
  readonly metadata: Readonly<Record<string, string>>
  /** The gRPC metadata of the call. */
  readonly call: Metadata
}

/** An application as Dapr calls it over gRPC, with Dapr's own definitions. */
export interface GrpcApp {
  readonly port: number
  readonly events: readonly GrpcAppEvent[]
  /** Resolves with the events once there are so many. */
  received(count: number): Promise<readonly GrpcAppEvent[]>
  /** How events are answered: a status, what is to be published, or `'hang'` for no answer. `OK` to begin with. */
  answerWith(answer: (event: GrpcAppEvent, index: number) => GrpcAppAnswer | Promise<GrpcAppAnswer>): void
  /** The components whose events it takes. `orders` to begin with. */
  subscribe(names: readonly string[]): void
  /** Whether its health check succeeds. It does to begin with. */
  feel(well: boolean): void
  close(): void
}

/** `BindingEventResponse`: what the application has published. */
export interface GrpcAppResponse {
  readonly to: readonly string[]
  readonly data: Buffer
  readonly concurrency?: 'SEQUENTIAL' | 'PARALLEL'
}

export type GrpcAppAnswer = keyof typeof status | 'hang' | GrpcAppResponse

/** Opens one on a port, a free one unless said; the test's end closes it. */
export async function openGrpcApp(port = 0): Promise<GrpcApp> {
  const events: GrpcAppEvent[] = []
  let answer: Parameters<GrpcApp['answerWith']>[0] = () => 'OK'
  let bindings: readonly string[] = ['orders']
  let well = true
  let watchers: (() => void)[] = []
  const server = new Server()
  const onBindingEvent: handleUnaryCall<Omit<GrpcAppEvent, 'call'>, object> = async (call, callback) => {
    const event = { ...call.request, call: call.metadata }
    events.push(event)
    for (const look of watchers) look()
    const code = await answer(event, events.indexOf(event))
    if (typeof code === 'object') callback(null, code)
    else if (code === 'OK') callback(null, {})
    else if (code !== 'hang') callback({ code: status[code], details: 'as told' })
  }
  const listInputBindings: handleUnaryCall<object, object> = (_call, callback) => callback(null, { bindings })
  const healthCheck: handleUnaryCall<object, object> = (_call, callback) =>
    well ? callback(null, {}) : callback({ code: status.UNAVAILABLE, details: 'not well' })
  server.addService(daprService('AppCallback'), {
    ListInputBindings: listInputBindings,
    OnBindingEvent: onBindingEvent,
  })
  server.addService(daprService('AppCallbackHealthCheck'), { HealthCheck: healthCheck })
  const bound = await promisify(server.bindAsync.bind(server))(`127.0.0.1:${port}`, ServerCredentials.createInsecure())
  const close = () => server.forceShutdown()
  onTestFinished(close)
  return {
    port: bound ?? 0,
    events,
    received: (count) =>
      new Promise((resolve) => {
        const look = () => {
          if (events.length < count) return
          watchers = watchers.filter((one) => one !== look)
          resolve(events)
        }
        watchers.push(look)
        look()
      }),
    answerWith(next) {
      answer = next
    },
    subscribe(names) {
      bindings = names
    },
    feel(now) {
      well = now
    },
    close,
  }
}
