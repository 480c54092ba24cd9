import { expect, it, onTestFinished } from 'vitest'
import { Binding } from '../../../src/index.ts'
import * as check from '../../../src/sidecar/cli/commands/check.ts'
import { createTerminal } from '../../../src/support/command-line/terminal.ts'
import { freePort } from '../../support/free-port.ts'
import { without } from '../../support/open-world.ts'
import { quickenTime } from '../../support/quick-time.ts'
import { openWebhook } from '../../support/webhook.ts'
import { type CheckWorld, openCheck, subscribe } from './open-check.ts'

/** A binding that runs while `check` does. */
async function run({ emulator, port }: CheckWorld, { handled = true } = {}): Promise<Binding> {
  const binding = new Binding({ endpoints: emulator.endpoints, ...(handled && { onEvent() {} }) })
  onTestFinished(() => binding.close())
  await binding.init(
    {
      name: 'orders',
      properties: {
        ...{ tenantId: emulator.tenantId, subscriptionId: emulator.subscriptionId, clientId: emulator.clientId },
        ...{ clientSecret: emulator.clientSecret, scope: emulator.topic('orders').id, handshakePort: String(port) },
        subscriberEndpoint: 'https://orders.example.com/api/events',
      },
    },
    { subscription: 'wait' },
  )
  return binding
}

it('knows a listener of ours on the port, asks it, and sends it no event of its own', async () => {
  const world = await openCheck()
  await run(world)
  const { idsThat, said } = await world.check('--round-trip')
  expect(idsThat('failed')).toEqual([])
  expect(said('machine/port')).toContain(
    'is held by a listener of this binding (event subscription provisioned, handler attached)',
  )
  expect(said('endpoint/handshake')).toContain('OPTIONS and POST reach a listener of this binding')
  expect(said('round-trip/event')).toContain('its application would get the event')
  expect(world.emulator.figures()).toMatchObject({ published: 0 })
})

it('sends no event of its own to a binding on another machine, and does not say that none runs', async () => {
  const world = await openCheck()
  const elsewhere = await freePort()
  world.emulator.setIngress([{ from: 'https://orders.example.com/', to: `http://127.0.0.1:${elsewhere}/` }])
  await run({ ...world, port: elsewhere })
  const { idsThat, said } = await world.check('--round-trip')
  expect(idsThat('failed')).toEqual([])
  expect(said('azure/subscription')).not.toContain('no binding runs')
  expect(said('round-trip/event')).toContain('an application elsewhere would get the event')
  expect(world.emulator.figures()).toMatchObject({ published: 0 })
})

it('warns of a listener of ours whose application takes no events', async () => {
  const world = await openCheck()
  const binding = await run(world, { handled: false })
  const { code, idsThat, said } = await world.check('--only', 'machine/port')
  expect(code).toBe(0)
  expect(idsThat('warning')).toEqual(['machine/port'])
  expect(said('machine/port')).toMatch(/no application takes events: deliveries get 503[\s\S]*--app-port.*OPTIONS/)
  expect(binding.health().input?.reasons).toEqual([
    'no application takes events: no handler is attached (library), the application is not ready (run), or daprd has not ' +
      'asked for events (serve): deliveries are answered 503, and Event Grid sends them again',
  ])
})

it.each<{ name: string; given: object; changed?: Record<string, string>; status: 'warning' | 'failed'; says: RegExp }>([
  {
    name: 'without a dead-letter destination, with other filters',
    given: { subjectBeginsWith: '/shop' },
    changed: { subjectBeginsWith: '/store' },
    status: 'warning',
    says: /differs from the metadata: other filter\.subjectBeginsWith[\s\S]*no dead-letter destination[\s\S]*deadLetterStorageAccountId/,
  },
  {
    name: 'that has no filter yet',
    given: {},
    changed: { subjectEndsWith: '.jpg', includedEventTypes: 'a,b' },
    status: 'warning',
    says: /other filter\.includedEventTypes, filter\.subjectEndsWith/,
  },
  {
    name: 'with the credential of another secret',
    given: { deliveryToken: 'a-token-that-is-long-enough' },
    status: 'failed',
    says: /carries the credential of another clientSecret or deliveryToken/,
  },
  {
    name: 'of a former name that delivers to the same endpoint',
    given: { eventSubscriptionName: 'former' },
    status: 'warning',
    says: /event subscription former delivers to \S+ too[\s\S]*delete --name former/,
  },
])('tells of an event subscription $name', async ({ given, changed = {}, status, says }) => {
  const world = await openCheck()
  await subscribe(world, { ...given })
  world.write(changed)
  const { code, idsThat, said } = await world.check('--only', 'azure/subscription')
  expect([code, idsThat(status)]).toEqual([status === 'failed' ? 1 : 0, ['azure/subscription']])
  expect(said('azure/subscription')).toMatch(says)
})

it.each([
  {
    name: 'Failed',
    consents: true,
    status: 503,
    says: /orders is Failed: Event Grid delivers nothing[\s\S]*start the binding again/,
  },
  {
    name: 'AwaitingManualAction',
    consents: false,
    status: 200,
    says: /waits for manual validation[\s\S]*route \/api\/events to handshakePort/,
  },
])('says what to do about one that is $name', async ({ consents, status, says }) => {
  quickenTime()
  const world = await openCheck()
  const { emulator } = world
  await openWebhook(emulator, () => ({ consents, status }))
  const subscribing = subscribe(world, {
    subscriberEndpoint: 'https://webhook.example.com/api/events',
    subscriptionTimeout: '20s',
  })
  await expect(subscribing).rejects.toThrow()
  const { idsThat, said } = await world.check('--only', 'azure/subscription')
  expect(idsThat('failed')).toEqual(['azure/subscription'])
  expect(said('azure/subscription')).toMatch(says)
})

it('warns of an event subscription that delivers here while no binding runs', async () => {
  const world = await openCheck()
  await subscribe(world, {})
  const { code, said, idsThat } = await world.check()
  expect(code).toBe(0)
  expect(idsThat('warning')).toEqual(['azure/subscription'])
  expect(said('azure/subscription')).toMatch(
    /the event subscription orders delivers here, and no binding runs[\s\S]*az eventgrid event-subscription delete/,
  )
  // Whether it runs elsewhere is not known where the endpoint is not asked.
  expect((await world.check('--skip', 'endpoint')).said('azure/subscription')).not.toContain('no binding runs')
  // What is not asked for is not asked.
  const before = world.emulator.records.requests.all().length
  expect((await world.check('--only', 'machine/port')).idsThat('ok')).toEqual(['machine/port'])
  expect(world.emulator.records.requests.all()).toHaveLength(before)
})

it('asks neither Resource Manager nor Entra with provisioning none', async () => {
  const world = await openCheck()
  const gone = without('tenantId', 'subscriptionId', 'clientId', 'clientSecret')
  const deliveryToken = 'a-token-that-is-long-enough'
  world.write({ ...gone, provisioning: 'none', deliveryToken, eventSubscriptionName: 'made' })
  const { code, idsThat, said } = await world.check()
  expect(code).toBe(0)
  const ofAzure = ['azure/credential', 'azure/provider', 'azure/scope', 'azure/permission', 'azure/subscription']
  expect(idsThat('skipped')).toEqual(ofAzure)
  expect(said('azure/subscription')).toContain('provisioning is none')
  const routes = world.emulator.records.requests.all().map(({ route }) => route)
  expect(routes.filter((route) => route === 'arm' || route === 'entra')).toEqual([])
})

it('asks for every resource of Event Grid by the api-version that writes are made by', async () => {
  const world = await openCheck()
  await run(world)
  const before = world.emulator.records.requests.all().length
  await world.check('--round-trip')
  const urls = world.emulator.records.requests
    .all()
    .slice(before)
    .map(({ url }) => url)
  const ofEventGrid = urls.filter((url) => /Microsoft\.EventGrid\/\w+/i.test(url))
  expect(ofEventGrid.length).toBeGreaterThan(2)
  expect(ofEventGrid.filter((url) => !/api-version=(2025-02-15|2022-04-01)$/.test(url))).toEqual([])
})

it('takes a difference for a warning with provisioning check, asks for rights to read alone, and names who mends it', async () => {
  const world = await openCheck()
  const { emulator } = world
  world.write({ provisioning: 'check' })
  const missing = await world.check()
  expect(missing.idsThat('failed')).toEqual([])
  expect(missing.said('azure/subscription')).toMatch(/does not exist[\s\S]*eventgrid-binding provision/)
  world.write({ provisioning: 'check', subscriberEndpoint: 'https://orders.example.com/api/events?code=hidden' })
  await subscribe(world, { subscriberEndpoint: 'https://orders.example.com/api/events?code=hidden' })
  emulator.removeRoles(emulator.clientId)
  emulator.assignRole(emulator.clientId, 'EventGrid EventSubscription Reader')
  emulator.assignRole(emulator.clientId, 'Reader')
  const same = await world.check('--only', 'azure')
  expect(same.idsThat('failed')).toEqual([])
  expect(same.said('azure/subscription')).not.toContain('differs')
  world.write({
    provisioning: 'check',
    subscriberEndpoint: 'https://shop.example.com/api/events',
    subjectEndsWith: 'x',
  })
  const { idsThat, said } = await world.check('--only', 'azure')
  expect(idsThat('failed')).toEqual([])
  expect(said('azure/subscription')).toMatch(/delivers to https:\/\/orders[\s\S]*run eventgrid-binding provision/)
})

it('fails for a client without any role, in the words of init', async () => {
  const world = await openCheck()
  world.emulator.removeRoles(world.emulator.clientId)
  const { idsThat, said } = await world.check('--only', 'azure')
  expect(idsThat('failed')).toEqual(['azure/permission'])
  expect(said('azure/permission')).toContain('the client may not create event subscriptions at')
})

it('warns where the list of permissions may not be read and the event subscription may', async () => {
  const world = await openCheck()
  world.emulator.failNext({
    route: 'arm',
    status: 403,
    code: 'AuthorizationFailed',
    matches: ({ url }) => url.includes('/permissions?'),
  })
  const { idsThat, said } = await world.check('--only', 'azure/permission')
  expect(idsThat('warning')).toEqual(['azure/permission'])
  expect(said('azure/permission')).toContain('whether it may be written is not known')
})

it('shows on a terminal what is under way, and leaves nothing of it behind', async () => {
  const { folder, emulator } = await openCheck()
  const written: string[] = []
  const terminal = createTerminal({ isTTY: true, columns: 100, write: (text) => written.push(text) }, true)
  await check.run(
    ['--components', folder.path, '--emulator', emulator.endpoints.resourceManager, '--only', 'azure,files'],
    terminal,
  )
  expect(written.some((text) => text.startsWith('\r\x1b[K') && text.includes('azure/credential'))).toBe(true)
  expect(written.some((text) => text.includes('\x1b[32m✓\x1b[0m azure/scope'))).toBe(true)
  expect(written.at(-2)).toMatch(/\d+ ok in \d\.\d s\n$/)
})
