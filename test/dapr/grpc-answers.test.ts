import { CommunicationProtocolEnum, DaprClient } from '@dapr/dapr'
import { expect, onTestFinished } from 'vitest'
import type { EventGridEmulator } from '../../packages/emulator/src/index.ts'
import { startCommand } from '../support/command.ts'
import { componentYaml, emulatorVariables, makeComponentFolder, writeSecretStore } from '../support/component-folder.ts'
import { freePort } from '../support/free-port.ts'
import { openOrders, openSdkApp, openStack, quiet, withDaprd } from './stack.ts'

const communicationProtocol = CommunicationProtocolEnum.GRPC

/** What the application sees of a sidecar: each answer, each refusal, and the events that it handled. */
async function outcomesOf(daprPort: number, emulator: EventGridEmulator, handled: readonly unknown[]) {
  const client = new DaprClient({
    daprHost: '127.0.0.1',
    daprPort: String(daprPort),
    communicationProtocol,
    logger: { service: quiet },
  })
  onTestFinished(() => client.stop())
  const said = (call: Promise<unknown>) => call.then(comparable, (error: Error) => error.message)
  const first = await said(client.binding.send('orders', 'create', { order: 1 }, { type: 'order.placed', id: 'one' }))
  // Its handler fails once: which event that is must not be left to chance.
  await emulator.settled()
  const outcomes = [
    first,
    await said(client.binding.send('orders', 'create', 'text', { id: 'two' })),
    await said(client.binding.send('parcels', 'create', 1)),
    await said(client.binding.send('orders', 'get', 1)),
  ]
  await emulator.settled()
  const { components } = await client.metadata.get()
  const shown = components
    .filter(({ name }) => name === 'orders')
    .map(({ name, type, version }) => ({ name, type, version }))
  return { outcomes, handled: handled.map(comparable), components: shown }
}

/** Without what differs from run to run: times, request ids and ports. */
const comparable = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value).replace(/127\.0\.0\.1:\d+/g, 'emulator'), (key, member) =>
    key === 'time' || key === 'requestId' ? undefined : member,
  )

withDaprd('an application over gRPC gets the same from eventgrid-binding run as from daprd', async () => {
  const appPort = await freePort()
  const { daprd, emulator, subscribed } = await openOrders({ daprd: { appPort, appProtocol: 'grpc' } })
  // The SDK starts when its sidecar is there, which waits for the application's port.
  const atDaprd = await openSdkApp(appPort, daprd.grpcPort, communicationProtocol)
  await daprd.ready()
  await subscribed()
  const expected = await outcomesOf(daprd.grpcPort, emulator, atDaprd)

  const otherPort = await freePort()
  const other = await openRun(otherPort)
  const atRun = await openSdkApp(otherPort, other.grpcPort, communicationProtocol)
  const found = await outcomesOf(other.grpcPort, other.emulator, atRun)
  expect(found).toEqual(expected)
  expect(found.handled).toHaveLength(3)
})

/** The same component in `run`, on an emulator of its own. */
async function openRun(appPort: number) {
  const { emulator, route } = await openStack()
  const port = await freePort()
  route('orders', port)
  const folder = makeComponentFolder()
  writeSecretStore(folder, emulator, ['orders'])
  const fields = { eventSubscriptionName: 'orders' }
  folder.write('orders.yaml', componentYaml(emulator, { handshakePort: String(port), fields }))
  const args = ['--components', folder.path, '--http-port', '0', '--grpc-port', '0']
  const host = startCommand(
    ['run', ...args, '--app-port', String(appPort), '--app-protocol', 'grpc'],
    emulatorVariables(emulator, folder.path),
  )
  const [, grpcPort = ''] = await host.line(/gRPC API .* port=(\d+)/)
  await emulator.records.handshakes.waitFor(({ outcome }) => outcome === 'validated')
  await emulator.idle()
  return { emulator, grpcPort: Number(grpcPort) }
}
