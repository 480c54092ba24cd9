import { resolve } from 'node:path'
import { expect, it } from 'vitest'
import { startCommand, startProcess } from '../../../support/command.ts'
import { emulatorVariables } from '../../../support/component-folder.ts'
import { freePort } from '../../../support/free-port.ts'
import { quickRetries } from '../../../support/quick-retries.ts'
import { startEmulator } from '../../../support/start-emulator.ts'
import { temporaryFolder } from '../../../support/temporary-folder.ts'

const example = resolve(import.meta.dirname, '../../../../examples/dapr')

// The same two, unchanged, on a stock daprd: test/dapr/example.test.ts.
it('runs the application and the component YAML of the example for daprd, unchanged', async () => {
  const emulator = await startEmulator({ retrySchedule: quickRetries })
  const topic = emulator.topic('orders')
  const [handshakePort, appPort] = [await freePort(), await freePort()]
  emulator.useIngress('https://orders.example.com/', `http://127.0.0.1:${handshakePort}/`)
  const host = startCommand(
    ['run', '--components', resolve(example, 'components'), '--app-port', String(appPort), '--http-port', '0'],
    {
      ...emulatorVariables(emulator, temporaryFolder()),
      AZURE_TENANT_ID: emulator.tenantId,
      AZURE_SUBSCRIPTION_ID: emulator.subscriptionId,
      AZURE_CLIENT_ID: emulator.clientId,
      AZURE_CLIENT_SECRET: emulator.clientSecret,
      HANDSHAKE_PORT: String(handshakePort),
      TOPIC_ID: topic.id,
      TOPIC_ENDPOINT: topic.endpoint,
      TOPIC_KEY: topic.key,
    },
  )
  const [, apiPort = ''] = await host.line(/ ready: .*url=http:\/\/127\.0\.0\.1:(\d+)/)
  const app = startProcess(process.execPath, [resolve(example, 'app.ts'), String(appPort), apiPort])
  await host.line(/ info {2}events go to the application at \/orders.* component=orders/)
  await host.line(/ info {2}the event subscription .* is provisioned.* component=orders/)
  emulator.raise(topic.id, [
    { specversion: '1.0', id: '17', source: '/shop', type: 'order.placed', data: { item: 'tea' } },
  ])
  await app.line(/^got order\.confirmed confirmed-17$/)
  await emulator.settled()
  expect(app.lines.filter((line) => line.startsWith('got'))).toEqual([
    'got order.placed 17',
    'got order.confirmed confirmed-17',
  ])
})
