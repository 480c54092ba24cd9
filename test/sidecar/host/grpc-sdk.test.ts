import { CommunicationProtocolEnum, DaprClient, DaprServer } from '@dapr/dapr'
import { expect, it, onTestFinished } from 'vitest'
import { freePort } from '../../support/free-port.ts'
import { openHostWorld } from './open-host.ts'

const quiet = { error() {}, warn() {}, info() {}, verbose() {}, debug() {} }

it("serves Dapr's own client and server over gRPC, unmodified", async () => {
  const world = await openHostWorld()
  const serverPort = String(await freePort())
  const host = world.start(['--app-port', serverPort, '--app-protocol', 'grpc', '--grpc-port', '0'])
  const [, daprPort = ''] = await host.line(/gRPC API .* port=(\d+)/)
  const clientOptions = {
    daprHost: '127.0.0.1',
    daprPort,
    communicationProtocol: CommunicationProtocolEnum.GRPC,
    logger: { service: quiet },
  }

  const server = new DaprServer({
    serverHost: '127.0.0.1',
    serverPort,
    communicationProtocol: CommunicationProtocolEnum.GRPC,
    clientOptions,
    logger: { service: quiet },
  })
  const handled: unknown[] = []
  await server.binding.receive('orders', async (event: unknown) => {
    handled.push(event)
    if (handled.length === 1) throw new Error('not yet')
  })
  await server.start()
  onTestFinished(() => server.stop())
  await host.takesEvents('orders')

  const client = new DaprClient(clientOptions)
  onTestFinished(() => client.stop())
  await client.binding.send('orders', 'create', { order: 1 }, { type: 'order.placed' })
  await world.emulator.settled()
  expect(handled).toMatchObject(Array(2).fill({ type: 'order.placed', data: { order: 1 } }))

  const unknown = client.binding.send('parcels', 'create', 1)
  await expect(unknown).rejects.toThrow("couldn't find output binding parcels")
  const metadata = await client.metadata.get()
  expect(metadata.components).toMatchObject([{ name: 'orders', capabilities: ['INPUT_BINDING', 'OUTPUT_BINDING'] }])
  await expect(client.state.get('store', 'key')).rejects.toThrow(/this host has no GetState.* run daprd/)
  await client.sidecar.shutdown()
  expect(await host.ended).toBe(0)
})
