import { Client, credentials, Metadata, status } from '@grpc/grpc-js'
import { expect, it, onTestFinished } from 'vitest'
import { Secret } from '../../../../src/core/secret.ts'
import { startHeldTopic, startTopic } from '../../../publisher/scripted-topic.ts'
import { daprService } from '../../../support/dapr-protos.ts'
import { freePort } from '../../../support/free-port.ts'
import { type GrpcAppEvent, openGrpcApp } from '../../../support/grpc-app.ts'
import { openConnection } from '../../../support/open-connection.ts'
import { traceparentOf } from '../../../support/telemetry.ts'
import { type HostWorld, openHostWorld, type RunningHost } from '../open-host.ts'
import { openApis } from './open-api.ts'

const dataOf = (events: readonly GrpcAppEvent[]) => events.map(({ data }) => JSON.parse(data.toString()).data)
const create = (data: unknown, metadata = {}) => ({ operation: 'create', data, metadata })

interface CallOptions {
  readonly token?: string
  readonly authority?: string
  readonly traceparent?: string
}

/** Calls a method of the API with Dapr's own definitions. */
async function callAt(
  port: number,
  method: string,
  request: object,
  { token, authority, traceparent }: CallOptions = {},
) {
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure(), {
    ...(authority !== undefined && { 'grpc.default_authority': authority }),
  })
  onTestFinished(() => client.close())
  const definition = daprService('Dapr')[method]
  if (!definition) throw new Error(`there is no ${method}`)
  const metadata = new Metadata()
  if (token !== undefined) metadata.set('dapr-api-token', token)
  if (traceparent !== undefined) metadata.set('traceparent', traceparent)
  return new Promise<object>((resolve, reject) => {
    const { path, requestSerialize, responseDeserialize } = definition
    client.makeUnaryRequest(path, requestSerialize, responseDeserialize, request, metadata, (error, answer) => {
      if (error) reject(error)
      else resolve(answer ?? {})
    })
  })
}

/** The port of the API, once all is ready. */
async function portOf(host: RunningHost): Promise<number> {
  await host.api
  const [, port] = await host.line(/gRPC API .* port=(\d+)/)
  return Number(port)
}

const startGrpc = (world: HostWorld, port: number, args: readonly string[] = [], env = {}) =>
  world.start(['--app-port', String(port), '--app-protocol', 'grpc', ...args], env)

it('hands an event over gRPC to the application by the name of its component, and none of the credential', async () => {
  const world = await openHostWorld()
  const app = await openGrpcApp()
  const host = startGrpc(world, app.port, [], {
    APP_API_TOKEN: 'for-the-application',
    grpc_proxy: 'http://127.0.0.1:1',
  })
  await host.takesEvents('orders')
  await host.invoke('orders', create({ order: 1 }, { type: 'order.placed' }))
  await world.emulator.settled()
  const [event] = await app.received(1)
  expect(event).toMatchObject({ name: 'orders', metadata: { 'aeg-delivery-count': '0' } })
  expect(event?.call.get('dapr-api-token')).toEqual(['for-the-application'])
  expect(Object.keys(event?.metadata ?? {})).not.toContain('x-eventgrid-binding-token')
  expect(dataOf(app.events)).toEqual([{ order: 1 }])
})

/** A component `name` that publishes to a scripted topic. */
function publisherTo(world: HostWorld, name: string, topicEndpoint: string): void {
  const fields = { direction: 'output', topicEndpoint, accessKey: 'a2V5', clientSecret: undefined }
  world.write(`${name}.yaml`, { name, topic: 'parcels', fields })
}

it.each([
  { concurrency: 'SEQUENTIAL', waits: true },
  { concurrency: 'PARALLEL', waits: false },
] as const)(
  'publishes it $concurrency as it is told: one waits for the other $waits',
  async ({ concurrency, waits }) => {
    const world = await openHostWorld()
    const app = await openGrpcApp()
    const [{ topic: first, open }, second] = [await startHeldTopic(), await startTopic()]
    publisherTo(world, 'first', first.endpoint)
    publisherTo(world, 'second', second.endpoint)
    app.answerWith(() => ({ to: ['first', 'second'], data: Buffer.from('{"parcel":1}'), concurrency }))
    const host = startGrpc(world, app.port)
    await host.takesEvents('orders')
    await host.invoke('orders', create({ order: 1 }))
    await first.arrived(1)
    if (!waits) {
      await second.arrived(1)
      await world.emulator.settled()
    } else expect([second.requests.length, world.emulator.figures().delivered]).toEqual([0, 0])
    open()
    await second.arrived(1)
    await world.emulator.settled()
    expect([first.requests.length, world.emulator.figures().delivered]).toEqual([1, 1])
    expect([first.events()[0]?.data, second.events()[0]?.data]).toEqual([{ parcel: 1 }, { parcel: 1 }])
  },
)

it('waits for the application, notices that it is gone and that it is back', async () => {
  const world = await openHostWorld()
  const port = await freePort()
  const host = startGrpc(world, port)
  await host.line(/the application is not there yet/)
  const first = await openGrpcApp(port)
  await host.takesEvents('orders')
  first.close()
  await host.invoke('orders', create('meanwhile'))
  await host.line(/the application is gone/)
  const second = await openGrpcApp(port)
  await world.emulator.settled()
  expect(dataOf(await second.received(1))).toEqual(['meanwhile'])
})

/** The API over a component `orders`, in this process. */
async function openGrpcApi(options: Parameters<typeof openApis>[0] = {}) {
  const { grpc } = await openApis(options)
  return grpc.listen({ host: '127.0.0.1', port: 0 })
}

it.each([
  { request: { name: 'parcels' }, says: "couldn't find output binding parcels" },
  { request: { operation: 'get' }, says: 'supported operations:create' },
  { request: { operation: '' }, says: 'operation field is missing' },
  { request: {}, says: 'PAYLOAD_INVALID' },
  { request: { metadata: Object.fromEntries(Array.from({ length: 1_001 }, (_, n) => [n, ''])) }, says: '1000 names' },
])('answers INTERNAL with the text of Dapr to a call that fails: $says', async ({ request, says }) => {
  const called = callAt(await openGrpcApi(), 'InvokeBinding', { name: 'orders', operation: 'create', ...request })
  await expect(called).rejects.toMatchObject({ code: status.INTERNAL, details: expect.stringContaining(says) })
})

it('publishes metadata, and the trace of the caller, which goes before one in the metadata', async () => {
  const topic = await startTopic()
  const { grpc } = await openApis({}, { httpEndpoint: topic.endpoint, key: 'a-key' })
  const port = await grpc.listen({ host: '127.0.0.1', port: 0 })
  const [traceparent, other] = [traceparentOf('a'), traceparentOf('b')]
  const request = { name: 'orders', operation: 'create', data: Buffer.from('{"order":1}') }
  const metadata = { type: 'order.placed', traceparent: other }
  const answer = await callAt(port, 'InvokeBinding', { ...request, metadata }, { traceparent })
  expect(answer).toMatchObject({ metadata: { count: '1' } })
  expect(topic.events()).toMatchObject([{ type: 'order.placed', traceparent, data: { order: 1 } }])
})

it('tells of its components, and ends when it is asked to', async () => {
  const down = Promise.withResolvers<void>()
  const port = await openGrpcApi({ onShutdown: down.resolve })
  expect(await callAt(port, 'GetMetadata', {})).toMatchObject({
    id: 'shop',
    registeredComponents: [{ name: 'orders', type: 'bindings.azure.eventgrid', capabilities: ['OUTPUT_BINDING'] }],
    extendedMetadata: { daprRuntimeVersion: expect.stringContaining('eventgrid-binding') },
  })
  await callAt(port, 'Shutdown', {})
  await down.promise
})

it.each([
  { name: 'no token', options: {}, code: status.UNAUTHENTICATED },
  { name: 'another token', options: { token: 'wrong' }, code: status.UNAUTHENTICATED },
  { name: 'the token and another host', options: { token: 'right', authority: 'evil.example.com' }, code: undefined },
])('takes a call with $name for what it is where a token is set', async ({ options, code }) => {
  const port = await openGrpcApi({ token: new Secret('right') })
  const ended = callAt(port, 'GetMetadata', {}, options).then(
    () => undefined,
    (error: { readonly code: status }) => error.code,
  )
  expect(await ended).toBe(code)
})

it('publishes over gRPC, and asks for DAPR_API_TOKEN where it is set', async () => {
  const world = await openHostWorld()
  const host = world.start(['--grpc-port', '0'], { DAPR_API_TOKEN: 'for-callers' })
  const port = await portOf(host)
  const request = { name: 'orders', operation: 'create', data: Buffer.from('{"order":1}') }
  const refused = callAt(port, 'InvokeBinding', request)
  await expect(refused).rejects.toMatchObject({ code: status.UNAUTHENTICATED })
  const taken = await callAt(port, 'InvokeBinding', request, { token: 'for-callers' })
  expect(taken).toMatchObject({ metadata: { count: '1' } })
})

it('refuses a message of more than 4 MiB', async () => {
  const request = { name: 'orders', operation: 'create', data: Buffer.alloc(5 * 1024 * 1024, 'x') }
  const called = callAt(await openGrpcApi(), 'InvokeBinding', request)
  await expect(called).rejects.toMatchObject({ code: status.RESOURCE_EXHAUSTED })
})

it('refuses a caller that names another host, as a page behind a proxy would', async () => {
  const port = await openGrpcApi()
  const refused = callAt(port, 'Shutdown', {}, { authority: 'evil.example.com' })
  await expect(refused).rejects.toMatchObject({ code: status.PERMISSION_DENIED })
  await expect(callAt(port, 'GetMetadata', {}, { authority: 'localhost:50001' })).resolves.toMatchObject({
    registeredComponents: [{ name: 'orders' }],
  })
})

// Calls of each kind, since each has streams of its own.
it.each(['GetState', 'SetMetadata', 'SubscribeConfiguration', 'EncryptAlpha1'])(
  'answers UNIMPLEMENTED to %s',
  async (method) => {
    await expect(callAt(await openGrpcApi(), method, {})).rejects.toMatchObject({ code: status.UNIMPLEMENTED })
  },
)

it('ends on SIGTERM though a caller has opened a connection and says nothing', async () => {
  const host = (await openHostWorld()).start(['--grpc-port', '0'])
  await openConnection(await portOf(host))
  host.process.kill('SIGTERM')
  expect(await host.ended).toBe(0)
})

it('ends with 1 where the port is in use, and names the option', async () => {
  const app = await openGrpcApp()
  const host = (await openHostWorld()).start(['--grpc-port', String(app.port)])
  expect(await host.ended).toBe(1)
  expect(host.lines.join('\n')).toContain(`port ${app.port} is in use; free it, or choose another by --grpc-port`)
})
