import { expect, it, onTestFinished, vi } from 'vitest'
import { Binding } from '../../src/index.ts'
import { runCheck } from '../sidecar/check/open-check.ts'
import { componentFile, makeComponentFolder } from '../support/component-folder.ts'
import { startEmulator } from '../support/start-emulator.ts'

it('trusts endpoints.ca of Entra, ARM and the topic behind a proxy of the environment', async () => {
  const emulator = await startEmulator()
  onTestFinished(() => void vi.unstubAllEnvs())
  vi.stubEnv('HTTPS_PROXY', emulator.proxy)
  const received: string[] = []
  const binding = new Binding({
    endpoints: { ca: emulator.ca },
    onEvent: ({ cloudEvent }) => void received.push(cloudEvent.id),
  })
  onTestFinished(() => binding.close())
  emulator.setIngress(({ pathname }) => `http://127.0.0.1:${binding.address()?.port}${pathname}`)
  const { tenantId, subscriptionId, clientId, clientSecret } = emulator
  const { id: scope, key: accessKey } = emulator.topic()
  await binding.init({
    ...{ tenantId, subscriptionId, clientId, clientSecret, scope, accessKey },
    ...{ subscriberEndpoint: 'https://orders.example.com', handshakePort: '0', deliveryAuthentication: 'entra' },
    topicEndpoint: 'https://orders.westeurope-1.eventgrid.azure.net/api/events',
  })
  const { metadata } = await binding.invoke('create', { order: 1 })
  await emulator.settled()
  expect(received).toEqual(JSON.parse(metadata.ids))
  expect(new Set(emulator.records.requests.all().map(({ headers }) => headers.host))).toContain(
    'login.microsoftonline.com',
  )
})

it('checks a component whose topic and endpoint can be asked through the proxy alone', async () => {
  const emulator = await startEmulator()
  onTestFinished(() => void vi.unstubAllEnvs())
  vi.stubEnv('HTTPS_PROXY', emulator.proxy)
  const folder = makeComponentFolder()
  const fields = {
    topicEndpoint: 'https://orders.westeurope-1.eventgrid.azure.net/api/events',
    accessKey: emulator.topic().key,
  }
  folder.write('orders.yaml', componentFile('orders', fields))
  const { said, idsThat } = await runCheck(['--components', folder.path, '--only', 'topic', '--json'])
  expect(idsThat('skipped')).toEqual(['topic/dns', 'topic/certificate'])
  expect(said('topic/dns')).toContain(`asked through the proxy ${emulator.proxy}`)
})
