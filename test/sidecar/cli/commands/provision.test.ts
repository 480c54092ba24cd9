import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { EventGridEmulatorOptions } from '../../../../packages/emulator/src/index.ts'
import * as command from '../../../../src/sidecar/cli/commands/provision.ts'
import { createTerminal } from '../../../../src/support/command-line/terminal.ts'
import { managementOf, sendArm } from '../../../support/azure-clients.ts'
import {
  componentFile,
  componentYaml,
  makeComponentFolder,
  writeSecretStore,
} from '../../../support/component-folder.ts'
import { freePort } from '../../../support/free-port.ts'
import { listen } from '../../../support/listen.ts'
import { queue } from '../../../support/open-pull.ts'
import { inputFields, without } from '../../../support/open-world.ts'
import { answer, noBackend, openIngress } from '../../../support/public-ingress.ts'
import { quickenTime } from '../../../support/quick-time.ts'
import { startEmulator } from '../../../support/start-emulator.ts'
import { openWebhook } from '../../../support/webhook.ts'

/** An emulator, the component `orders` whose endpoint answers the handshake, and `provision` to run on them. */
async function openProvision(options: EventGridEmulatorOptions = {}) {
  const emulator = await startEmulator(options)
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
      const code = await command.run([...given, ...args], terminal, new AbortController().signal)
      return { code, text: written.join('') }
    },
  }
}

const webHookOf = (emulator: Awaited<ReturnType<typeof startEmulator>>) => {
  const { destination } = emulator.eventSubscription(emulator.topic('orders').id, 'orders')?.properties ?? {}
  if (destination?.endpointType !== 'WebHook') throw new Error('there is no webhook')
  return destination.properties
}

const onlyOutput = without(...inputFields)

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

it('asks Event Grid by one api-version, and shows and loses nothing of what only that has', async () => {
  const { emulator, provision, write } = await openProvision()
  await provision()
  const path = `${emulator.topic('orders').id}/providers/Microsoft.EventGrid/eventSubscriptions/orders?api-version=2025-02-15`
  const { endpointUrl } = webHookOf(emulator)
  const properties = { endpointUrl, minimumTlsVersionAllowed: '1.2' }
  const destination = { endpointType: 'WebHook', properties }
  await sendArm(emulator, path, { method: 'PATCH', body: JSON.stringify({ destination }) })
  await emulator.idle()
  write({ maxEventsPerBatch: '7' })
  const { code, text } = await provision('--dry-run')
  expect([code, text]).toEqual([3, expect.not.stringContaining('minimumTlsVersionAllowed')])
  expect((await provision()).text).toContain('✓ the event subscription is updated')
  expect(webHookOf(emulator)).toMatchObject({ maxEventsPerBatch: 7, minimumTlsVersionAllowed: '1.2' })
  const asked = emulator.records.requests.filter(({ url }) => /eventSubscriptions/.test(url)).map(({ url }) => url)
  expect(asked.filter((url) => !url.includes('api-version=2025-02-15'))).toEqual([])
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
  const gone = without('tenantId', 'clientId', 'clientSecret', 'subscriptionId')
  const deliveryToken = 'a-token-that-is-long-enough'
  write({ ...gone, provisioning: 'none', eventSubscriptionName: 'orders', deliveryToken })
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
    text: expect.stringContaining('skipped: it only publishes'),
  })
  expect((await provision('--dry-run')).code).toBe(0)
  const planned = JSON.parse((await provision('--dry-run', '--json')).text)
  expect(planned.components).toEqual([{ name: 'orders', file: expect.any(String), subscriptions: [] }])
  const done = JSON.parse((await provision('--json')).text)
  expect(done.components).toEqual([{ name: 'orders', file: expect.any(String), action: 'passedOver' }])
  expect(emulator.eventSubscriptions()).toEqual([])
})

it('waits for the endpoint, and gives up after --wait', async () => {
  quickenTime()
  const { provision, endpointIsUp, existing } = await openProvision()
  endpointIsUp(false)
  const { code, text } = await provision('--wait', '20s')
  expect(code).toBe(1)
  expect(text).toMatch(
    /^orders {2}.*orders\.yaml\n(?: {2}the handshake .*\n {2}the next try .*\n)+ {2}✗ HANDSHAKE_FAILED: .*503/,
  )
  // Nothing worked before, so it was written, and what that has left is said.
  expect(text).toContain('Event Grid delivers nothing by it until a handshake succeeds')
  endpointIsUp(true)
  expect((await provision('--wait', '1m')).code).toBe(0)
  expect(existing()?.provisioningState).toBe('Succeeded')
})

/** The same behind a public address that can really be asked. `--ca` has the authorities of both. */
async function openBehindIngress() {
  const ingress = await openIngress()
  const world = await openProvision({ trustedCertificates: [ingress.ca] })
  const ca = join(world.folder.path, 'authorities.pem')
  writeFileSync(ca, `${world.emulator.ca}\n${ingress.ca}`)
  const consent = answer(200, { 'webhook-allowed-origin': 'eventgrid.azure.net' })
  ingress.route(() => consent)
  world.write({ subscriberEndpoint: ingress.url })
  const provision = (...args: readonly string[]) => world.provision('--ca', ca, ...args)
  expect((await provision()).code).toBe(0)
  return { ...world, ingress, consent, provision }
}

it('writes nothing during an outage of the ingress, and says what waits', async () => {
  quickenTime()
  const { provision, ingress, consent, write, existing, emulator } = await openBehindIngress()
  ingress.route(() => noBackend)
  write({ subscriberEndpoint: ingress.url, maxDeliveryAttempts: '7' })
  const { requests } = emulator.records
  requests.clear()
  const { code, text } = await provision('--wait', '20s')
  expect(code).toBe(1)
  expect(text).toMatch(/✗ HANDSHAKE_FAILED: .*answered 503.*nothing is written.*other retryPolicy/)
  expect(text).not.toContain('Event Grid delivers nothing')
  expect(requests.filter(({ method }) => method === 'PUT' || method === 'PATCH')).toEqual([])
  expect(existing()?.provisioningState).toBe('Succeeded')
  ingress.route(() => consent)
  expect((await provision()).text).toContain('✓ the event subscription is updated')
})

it('writes where the endpoint cannot be reached from here, and names it', async () => {
  quickenTime()
  const { provision, write, emulator, existing } = await openBehindIngress()
  const away = `https://localhost:${await freePort()}/api/events`
  const direct = createServer((_request, response) => response.writeHead(200, { 'webhook-allowed-origin': '*' }).end())
  emulator.setIngress([{ from: new URL(away).origin, to: `http://127.0.0.1:${await listen(direct)}/` }])
  write({ subscriberEndpoint: away })
  const { code, text } = await provision('--wait', '20s', '--json')
  expect(code).toBe(0)
  const warning = expect.stringMatching(/localhost:\d+\/api\/events could not be reached from here \(ECONNREFUSED\)/)
  const moved = expect.stringMatching(/localhost:\d+/)
  expect(JSON.parse(text).components).toMatchObject([{ action: 'patched', warnings: [warning, moved] }])
  expect(existing()?.provisioningState).toBe('Succeeded')
})

it('takes --wait for pull too', async () => {
  const emulator = await startEmulator({ namespaces: queue })
  const folder = makeComponentFolder()
  const { tenantId, clientId, clientSecret } = emulator
  const { id: namespaceTopic } = emulator.namespaceTopic('orders')
  const fields = { deliveryMode: 'pull', namespaceTopic, tenantId, clientId, clientSecret }
  folder.write('pull.yaml', componentFile('pull', fields))
  emulator.failNext({ route: 'arm', status: 500, times: 1_000 })
  const written: string[] = []
  const args = ['--components', folder.path, '--emulator', emulator.endpoints.resourceManager, '--wait', '1s', '--json']
  const terminal = createTerminal({ write: (more) => written.push(more) })
  expect(await command.run(args, terminal, new AbortController().signal)).toBe(1)
  expect(JSON.parse(written.join('')).components).toMatchObject([
    { name: 'pull', error: { code: 'TIMEOUT', what: expect.stringContaining('gave up after') } },
  ])
})

it('fails in the words of init where the client may not write, and goes on with the next component', async () => {
  const { provision, emulator, folder } = await openProvision()
  emulator.removeRoles(emulator.clientId)
  const { endpoint: topicEndpoint, key: accessKey } = emulator.topic('orders')
  folder.write('zz.yaml', componentFile('zz', { topicEndpoint, accessKey }))
  const { code, text } = await provision('--json')
  expect(code).toBe(1)
  const error = { code: 'PERMISSION_DENIED', fix: expect.stringContaining('az role assignment create') }
  const components = [
    { name: 'orders', error },
    { name: 'zz', action: 'passedOver' },
  ]
  expect(JSON.parse(text)).toMatchObject({ version: 1, ok: false, components })
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

describe('--dry-run', () => {
  /** Every request to Resource Manager that could write. */
  const writesOf = ({ emulator }: Awaited<ReturnType<typeof openProvision>>) =>
    emulator.records.requests
      .filter(({ route, method }) => route === 'arm' && !['GET', 'HEAD'].includes(method))
      // The secret attributes of an event subscription are read by a POST.
      .filter(({ url }) => !/\/(?:getFullUrl|getDeliveryAttributes)\b/i.test(url))

  it('shows what would be created, field by field, exits 3 and writes nothing', async () => {
    const world = await openProvision()
    const { code, text } = await world.provision('--dry-run')
    expect(code).toBe(3)
    expect(text).toContain('~ /subscriptions/')
    expect(text).toContain('would be created')
    expect(text).toMatch(/\+ \S+: .*webhook\.example\.com/)
    expect(world.existing()).toBeUndefined()
    expect(writesOf(world)).toEqual([])
  })

  it('exits 0 where nothing differs', async () => {
    const world = await openProvision()
    await world.provision()
    const before = writesOf(world).length
    expect(await world.provision('--dry-run')).toEqual({ code: 0, text: expect.stringContaining('✓ ') })
    expect((await world.provision('--dry-run')).text).toContain('is as it should be')
    expect(writesOf(world)).toHaveLength(before)
  })

  it.each([
    { name: 'a text', fields: { subjectBeginsWith: '/shop' }, line: /[+~] \S*subjectBeginsWith: .*"\/shop"/ },
    { name: 'a number', fields: { maxDeliveryAttempts: '7' }, line: /\+ \S*maxDeliveryAttempts: 7$/m },
    {
      name: 'a list',
      fields: { includedEventTypes: 'order.placed' },
      line: /[+~] \S*includedEventTypes: .*order\.placed/,
    },
    {
      name: 'an address without its query',
      fields: { subscriberEndpoint: 'https://new.example.com/api/events?code=secret' },
      line: /~ \S*endpointUrl: .*https:\/\/new\.example\.com\/api\/events\?\(redacted\)"?$/m,
    },
    { name: 'a period', fields: { eventTimeToLive: '60m' }, line: /\+ \S*eventTimeToLiveInMinutes: 60$/m },
  ])('shows $name that would change, exits 3, and leaves it', async ({ fields, line }) => {
    const world = await openProvision()
    await world.provision()
    const before = [structuredClone(world.existing()?.properties), writesOf(world).length]
    world.write(fields)
    const { code, text } = await world.provision('--dry-run')
    expect(code).toBe(3)
    expect(text).toContain('would be updated')
    expect(text).toMatch(line)
    expect([world.existing()?.properties, writesOf(world).length]).toEqual(before)
  })

  it.each([
    { as: 'as text', args: [] },
    { as: 'as JSON', args: ['--json'] },
  ])('masks the old and the new delivery token, $as', async ({ args }) => {
    const world = await openProvision()
    const [old, fresh] = ['old', 'new'].map((name) => name.padEnd(32, '-'))
    const tokenOf = async (deliveryToken: string | undefined) => {
      world.write({ deliveryToken })
      const [, value = ''] = (await world.provision('--show-token', '--component', 'orders')).text.trim().split('\n')
      return value
    }
    const oldValue = await tokenOf(old)
    await world.provision()
    const newValue = await tokenOf(fresh)
    const { code, text } = await world.provision('--dry-run', ...args)
    expect(code).toBe(3)
    expect(text).toMatch(/x-eventgrid-binding-token/i)
    for (const secret of [oldValue, newValue, old, fresh, world.emulator.clientSecret]) {
      expect(secret).not.toBe('')
      expect(text).not.toContain(secret)
    }
  })

  it('tells as JSON what would change, and that it is not as it should be', async () => {
    const world = await openProvision()
    world.write({ maxDeliveryAttempts: '9' })
    await world.provision()
    world.write({ maxDeliveryAttempts: '7' })
    const { code, text } = await world.provision('--dry-run', '--json')
    expect(code).toBe(3)
    const field = expect.stringContaining('maxDeliveryAttempts')
    const subscriptions = [{ action: 'patch', changes: [{ field, before: 9, after: 7 }] }]
    expect(JSON.parse(text)).toMatchObject({ ok: false, components: [{ name: 'orders', subscriptions }] })
  })

  it('says of the event subscription of somebody else only why it is not written', async () => {
    const { emulator, provision } = await openProvision()
    const resourceId = `/subscriptions/${emulator.subscriptionId}/resourceGroups/rg/providers/Microsoft.Storage/storageAccounts/shop`
    await managementOf(emulator).eventSubscriptions.beginCreateOrUpdateAndWait(
      emulator.topic('orders').id.slice(1),
      'orders',
      {
        destination: { endpointType: 'StorageQueue', resourceId, queueName: 'letters' },
        filter: { subjectBeginsWith: '/shop' },
      },
    )
    const { code, text } = await provision('--dry-run')
    expect(code).toBe(1)
    expect(text).toContain(
      'must not be written: an event subscription of that name exists, and delivers to StorageQueue',
    )
    expect(text).not.toContain('subjectBeginsWith')
  })

  it('works with a role that only reads, and says what it could not compare', async () => {
    const world = await openProvision()
    const { emulator } = world
    await world.provision()
    emulator.removeRoles(emulator.clientId)
    emulator.assignRole(emulator.clientId, 'EventGrid EventSubscription Reader')
    const warning = '! the query of the URL and secret delivery attributes are not compared'
    expect(await world.provision('--dry-run')).toEqual({ code: 0, text: expect.stringContaining(warning) })
    world.write({ subjectBeginsWith: '/shop' })
    const { code, text } = await world.provision('--dry-run')
    expect(code).toBe(3)
    expect(text).toContain('+ filter.subjectBeginsWith: "/shop"')
    expect(text).toContain(warning)
  })

  it('fails with 1 where the client may not read', async () => {
    const world = await openProvision()
    world.emulator.removeRoles(world.emulator.clientId)
    const { code, text } = await world.provision('--dry-run')
    expect(code).toBe(1)
    expect(text).toContain('✗ PERMISSION_DENIED')
    expect(writesOf(world)).toEqual([])
  })
})
