import { CommunicationProtocolEnum, DaprClient } from '@dapr/dapr'
import { expect, onTestFinished } from 'vitest'
import { componentYaml } from '../support/component-folder.ts'
import { openDaprApp } from '../support/dapr-app.ts'
import { freePort } from '../support/free-port.ts'
import { outputFields, outputOnly, without } from '../support/open-world.ts'
import { makeSocketFolder } from '../support/socket-folder.ts'
import { type Daprd, idsOf, openOrders, openStack, quiet, withDaprd } from './stack.ts'

withDaprd.for(['bindings.azure.eventgrid', 'bindings.cloud.eventrouter'])(
  'daprd loads a component of type %s with both sides: what is created comes back to the application',
  async (type) => {
    const app = await openDaprApp()
    const { daprd, emulator, subscribed } = await openOrders({ type, daprd: { appPort: app.port } })
    await daprd.ready()
    await subscribed()
    expect(emulator.eventSubscription(emulator.topic('orders').id, 'orders')).toMatchObject({
      provisioningState: 'Succeeded',
      properties: { destination: { properties: { endpointUrl: 'https://orders.example.com/api/events' } } },
    })
    const answer = await daprd.create('orders', { order: 1 }, { id: 'one', type: 'order.placed' })
    expect(answer.status).toBe(200)
    await emulator.settled()
    const [call] = await app.received('POST', 1)
    expect(call?.path).toBe('/orders')
    expect(JSON.parse(call?.body ?? '')).toMatchObject({ id: 'one', type: 'order.placed', data: { order: 1 } })
    expect(call?.headers).toMatchObject({ 'aeg-event-type': 'Notification', 'content-type': 'application/json' })
    expect(idsOf(app.calls)).toEqual(['one'])
  },
)

const doors: readonly { by: string; create(daprd: Daprd): Promise<unknown> }[] = [
  { by: 'the HTTP API', create: (daprd) => daprd.create('orders', { a: 1 }, { id: 'one' }) },
  { by: 'the @dapr/dapr client over HTTP', create: (daprd) => createBy(daprd, CommunicationProtocolEnum.HTTP) },
  { by: 'the @dapr/dapr client over gRPC', create: (daprd) => createBy(daprd, CommunicationProtocolEnum.GRPC) },
]

async function createBy({ httpPort, grpcPort }: Daprd, communicationProtocol: CommunicationProtocolEnum) {
  const daprPort = String(communicationProtocol === CommunicationProtocolEnum.HTTP ? httpPort : grpcPort)
  const client = new DaprClient({ daprHost: '127.0.0.1', daprPort, communicationProtocol, logger: { service: quiet } })
  onTestFinished(() => client.stop())
  return client.binding.send('orders', 'create', { a: 1 }, { id: 'one' })
}

withDaprd.for(doors)('create publishes when it is called by $by', async ({ create }) => {
  const { daprd, emulator } = await openOrders({ fields: outputOnly })
  await daprd.ready()
  await create(daprd)
  const [published] = emulator.records.requests.filter(
    ({ url }) => url.startsWith('/topics/') || url.includes('/api/events'),
  )
  expect(JSON.stringify(published)).toContain('"one')
  expect(emulator.figures().published).toBe(1)
})

withDaprd('a failed create is told as Dapr tells it, with our text', async () => {
  const { daprd } = await openOrders({ fields: { ...outputOnly, accessKey: 'd3Jvbmc=' } })
  await daprd.ready()
  const answer = await daprd.create('orders', { a: 1 })
  expect(answer.status).toBe(500)
  expect(await answer.json()).toMatchObject({
    errorCode: 'ERR_INVOKE_OUTPUT_BINDING',
    message: expect.stringContaining('CREDENTIALS_REJECTED'),
  })
})

withDaprd.for([
  { name: 'output only', fields: outputOnly },
  { name: 'output only by direction: output', fields: { direction: 'output' } },
])('a component with $name publishes, and listens on no port', async ({ fields }) => {
  const { daprd, emulator, port } = await openOrders({ fields })
  await daprd.ready()
  expect((await daprd.create('orders', { a: 1 })).status).toBe(200)
  expect(emulator.figures().published).toBe(1)
  await expect(fetch(`http://127.0.0.1:${port}/api/events`, { method: 'OPTIONS' })).rejects.toThrow()
})

withDaprd.for([
  { name: 'input only', fields: without(...outputFields) },
  { name: 'input only by direction: input', fields: { direction: 'input' } },
  { name: 'both sides by direction: input, output', fields: { direction: 'input, output' } },
  { name: '{uuid} in its metadata, which differs for each side', fields: { labels: 'a,{uuid}' } },
])('a component with $name delivers', async ({ fields }) => {
  const app = await openDaprApp()
  const { daprd, emulator, subscribed, publish } = await openOrders({ fields, daprd: { appPort: app.port } })
  await daprd.ready()
  await subscribed()
  await publish(['one'])
  await emulator.settled()
  expect(idsOf(app.calls)).toEqual(['one'])
})

withDaprd('two components in one daprd each have their port, their topic and their events', async () => {
  const app = await openDaprApp()
  const stack = await openStack({ topics: [{ name: 'orders' }, { name: 'parcels' }] })
  const { emulator, components } = stack
  for (const name of ['orders', 'parcels']) {
    const port = await freePort()
    stack.route(name, port)
    components.write(`${name}.yaml`, componentYaml(emulator, { name, handshakePort: String(port) }))
  }
  const sockets = makeSocketFolder()
  await stack.serve(sockets)
  const daprd = await stack.startDaprd({ sockets, appPort: app.port })
  await daprd.ready()
  for (const name of ['orders', 'parcels']) {
    await stack.subscribed(name)
    expect((await daprd.create(name, {}, { id: `of-${name}` })).status).toBe(200)
  }
  await emulator.settled()
  const posted = (await app.received('POST', 2)).map(({ path, body }) => `${path} ${JSON.parse(body).id}`)
  expect(posted.toSorted()).toEqual(['/orders of-orders', '/parcels of-parcels'])
})

withDaprd('invalid metadata end daprd, and its log shows every fault', async () => {
  const { daprd } = await openOrders({ fields: { tenantId: undefined, scope: 'nowhere', handshakePort: '70000' } })
  expect(await daprd.ended).toBe(1)
  const log = daprd.lines.join('\n')
  for (const field of ['METADATA_INVALID', 'tenantId', 'scope', 'handshakePort']) expect(log).toContain(field)
})

withDaprd('daprd is ready before any ingress routes: the event subscription comes up behind its back', async () => {
  const app = await openDaprApp()
  const { daprd, emulator, route, port, subscribed, serving, publish } = await openOrders({
    daprd: { appPort: app.port },
  })
  route('orders', 1)
  await daprd.ready()
  await serving.line(/HANDSHAKE_FAILED/)
  route('orders', port)
  await subscribed()
  await publish(['one'])
  await emulator.settled()
  expect(idsOf(app.calls)).toEqual(['one'])
})
