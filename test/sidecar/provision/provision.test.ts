import { expect, it } from 'vitest'
import * as command from '../../../src/sidecar/cli/commands/provision.ts'
import { createTerminal } from '../../../src/sidecar/cli/output/terminal.ts'
import { componentYaml, makeComponentFolder, writeSecretStore } from '../../support/component-folder.ts'
import { startEmulator } from '../../support/start-emulator.ts'
import { openWebhook } from '../../support/webhook.ts'

/** An emulator, the component `orders` whose endpoint answers the handshake, and `provision` to run on them. */
async function openProvision() {
  const emulator = await startEmulator()
  let consents = true
  const webhook = await openWebhook(emulator, () => ({ consents, ...(consents ? {} : { status: 503 }) }))
  const folder = makeComponentFolder()
  writeSecretStore(folder, emulator, ['orders'])
  const write = (fields: Readonly<Record<string, string | undefined>> = {}) =>
    folder.write(
      'orders.yaml',
      componentYaml(emulator, { handshakePort: '9000', fields: { subscriberEndpoint: webhook.url, ...fields } }),
    )
  write()
  const given = ['--components', folder.path, '--emulator', emulator.endpoints.resourceManager]
  return {
    emulator,
    folder,
    write,
    existing: () => emulator.eventSubscription(emulator.topic('orders').id, 'orders'),
    endpointIsUp(up: boolean) {
      consents = up
    },
    async provision(...args: readonly string[]) {
      const written: string[] = []
      const terminal = createTerminal({ write: (more) => written.push(more) })
      const code = await command.run([...given, ...args], terminal, new Promise(() => {}))
      return { code, text: written.join('') }
    },
  }
}

const output = { subscriberEndpoint: undefined, handshakePort: undefined, scope: undefined, clientSecret: undefined }
const onlyOutput = { ...output, tenantId: undefined, subscriptionId: undefined, clientId: undefined }

it('creates the event subscription once, keeps it, and keeps what an operator has set', async () => {
  const { provision, existing, write } = await openProvision()
  expect(await provision()).toEqual({ code: 0, text: expect.stringContaining('✓ the event subscription is created') })
  expect(existing()?.provisioningState).toBe('Succeeded')
  expect((await provision()).text).toContain('✓ the event subscription is as it should be')
  write({ subjectBeginsWith: '/shop' })
  expect((await provision()).text).toContain('✓ the event subscription is updated')
  write()
  expect((await provision()).text).toContain('as it should be')
  expect(existing()?.properties.filter).toMatchObject({ subjectBeginsWith: '/shop' })
})

it.each([
  { provisioning: 'check', says: 'is created' },
  { provisioning: 'none', says: 'is created' },
])(
  'writes for a component with provisioning $provisioning that has credential fields',
  async ({ provisioning, says }) => {
    const { provision, write, existing } = await openProvision()
    write({ provisioning, eventSubscriptionName: 'orders' })
    expect(await provision('--json')).toMatchObject({ code: 0 })
    expect(existing()).toBeDefined()
    expect((await provision()).text).not.toContain(says)
  },
)

it('names the credential fields that a component with provisioning none lacks', async () => {
  const { provision, write, emulator } = await openProvision()
  const gone = { tenantId: undefined, clientId: undefined, clientSecret: undefined, subscriptionId: undefined }
  write({
    ...gone,
    provisioning: 'none',
    eventSubscriptionName: 'orders',
    deliveryToken: 'a-token-that-is-long-enough',
  })
  const running = provision()
  await expect(running).rejects.toMatchObject({ name: 'UsageError' })
  for (const name of Object.keys(gone)) await expect(running).rejects.toThrow(`${name} is required`)
  expect(emulator.records.requests.all()).toEqual([])
})

it('passes over a component that only publishes', async () => {
  const { provision, write, emulator } = await openProvision()
  write(onlyOutput)
  expect(await provision('--component', 'orders')).toMatchObject({
    code: 0,
    text: expect.stringContaining('passed over: it only publishes'),
  })
  expect((await provision('--dry-run')).code).toBe(0)
  expect(emulator.eventSubscriptions()).toEqual([])
})

it('waits for the endpoint, and gives up after --wait', async () => {
  const { provision, endpointIsUp, existing } = await openProvision()
  endpointIsUp(false)
  const { code, text } = await provision('--wait', '1s')
  expect(code).toBe(1)
  expect(text).toMatch(/✗ HANDSHAKE_FAILED: .*503/)
  endpointIsUp(true)
  expect((await provision('--wait', '1m')).code).toBe(0)
  expect(existing()?.provisioningState).toBe('Succeeded')
})

it('fails in the words of init where the client may not write, and goes on with the next component', async () => {
  const { provision, emulator, folder } = await openProvision()
  emulator.removeRoles(emulator.clientId)
  folder.write(
    'zz.yaml',
    componentYaml(emulator, {
      name: 'zz',
      topic: 'orders',
      handshakePort: '9001',
      fields: { ...onlyOutput, accessKey: 'a2V5' },
    }),
  )
  const { code, text } = await provision('--json')
  expect(code).toBe(1)
  expect(JSON.parse(text)).toMatchObject({
    version: 1,
    ok: false,
    components: [
      {
        name: 'orders',
        error: { code: 'PERMISSION_DENIED', fix: expect.stringContaining('az role assignment create') },
      },
      { name: 'zz', action: 'passedOver' },
    ],
  })
})

it('prints the delivery attribute that init would write, and asks nobody', async () => {
  const { provision, emulator, existing, write } = await openProvision()
  const { code, text } = await provision('--show-token', '--component', 'orders')
  expect(code).toBe(0)
  expect(emulator.records.requests.all()).toEqual([])
  const [name, value] = text.trim().split('\n')
  expect(JSON.parse((await provision('--show-token', '--component', 'orders', '--json')).text)).toEqual({ name, value })
  await provision()
  expect(JSON.stringify(existing()?.properties.destination)).toContain(
    JSON.stringify({ name, value }).slice(1, -1).split(',')[1],
  )
  write({ deliveryAuthentication: 'none' })
  await expect(provision('--show-token', '--component', 'orders')).rejects.toThrow('has no delivery token')
  await expect(provision('--show-token')).rejects.toThrow('--show-token needs --component')
})
