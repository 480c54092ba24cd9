import { CommunicationProtocolEnum, DaprClient, DaprServer } from '@dapr/dapr'
import { expect, it, onTestFinished } from 'vitest'
import { freePort } from '../../../support/free-port.ts'
import { openHostWorld } from '../open-host.ts'

const quiet = { error() {}, warn() {}, info() {}, verbose() {}, debug() {} }

it.each(['http', 'grpc'] as const)("serves Dapr's own client and server over %s, unmodified", async (protocol) => {
  const overGrpc = protocol === 'grpc'
  const communicationProtocol = overGrpc ? CommunicationProtocolEnum.GRPC : CommunicationProtocolEnum.HTTP
  const world = await openHostWorld()
  const serverPort = String(await freePort())
  const more = overGrpc ? ['--app-protocol', 'grpc', '--grpc-port', '0'] : []
  const host = world.start(['--app-port', serverPort, ...more])
  const [, grpcPort = ''] = overGrpc ? await host.line(/gRPC API .* port=(\d+)/) : []
  const clientOptions = {
    daprHost: '127.0.0.1',
    daprPort: overGrpc ? grpcPort : new URL(await host.api).port,
    communicationProtocol,
    logger: { service: quiet },
  }

  const server = new DaprServer({
    ...{ serverHost: '127.0.0.1', serverPort, communicationProtocol, clientOptions },
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
  await expect(unknown).rejects.toThrow(
    overGrpc
      ? "couldn't find output binding parcels"
      : /ERR_INVOKE_OUTPUT_BINDING.*couldn't find output binding parcels/,
  )
  const capabilities = overGrpc && { capabilities: ['INPUT_BINDING', 'OUTPUT_BINDING'] }
  expect((await client.metadata.get()).components).toMatchObject([{ name: 'orders', ...capabilities }])
  if (overGrpc)
    await expect(client.state.get('store', 'key')).rejects.toThrow(/does not implement the method .*GetState/)
  else expect(await client.health.isHealthy()).toBe(true)
  await client.sidecar.shutdown()
  expect(await host.ended).toBe(0)
})
