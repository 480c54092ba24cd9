/** What `provisioning` changes: who asks Azure for what, and what becomes of an event subscription that somebody else makes. */
import { describe, expect, it, onTestFinished } from 'vitest'
import type { EventGridEmulatorOptions } from '../../../packages/emulator/src/index.ts'
import { Binding, type InitOptions } from '../../../src/index.ts'
import { credentialOf } from '../../support/azure-clients.ts'
import { captureLog } from '../../support/captured-log.ts'
import { eventually } from '../../support/eventually.ts'
import { openPull, order } from '../../support/open-pull.ts'
import { type Fields, fieldsFor, outputFields, without } from '../../support/open-world.ts'
import { quickenTime } from '../../support/quick-time.ts'
import { refusal } from '../../support/refusal.ts'
import { startEmulator } from '../../support/start-emulator.ts'

const [oldToken, newToken] = ['old', 'new'].map((name) => name.padEnd(32, '-'))

/** An emulator, and components that share one event subscription; deliveries come to the one that was started last. */
async function openComponents(options: EventGridEmulatorOptions = {}) {
  const emulator = await startEmulator({ retrySchedule: [20, 200, 1_000], ...options })
  const topic = emulator.topic('orders')
  let latest: Binding | undefined
  emulator.setIngress(({ pathname }) => `http://127.0.0.1:${latest?.address()?.port ?? 1}${pathname}`)
  const { requests, deliveries } = emulator.records
  return {
    emulator,
    deliveries,
    existing: () => emulator.eventSubscription(topic.id, 'orders'),
    raise: (id: string) => emulator.raise(topic.id, [order(id)]),
    /** From now on the client may only read. */
    mayOnlyRead() {
      emulator.removeRoles(emulator.clientId)
      emulator.assignRole(emulator.clientId, 'EventGrid EventSubscription Reader')
    },
    /** Notes the calls to Resource Manager and Entra from here on. */
    watch() {
      const before = requests.all().length
      return () => requests.all().slice(before)
    },
    start(fields: Fields, init: InitOptions = {}) {
      const log = captureLog()
      const handled: string[] = []
      const onEvent = ({ cloudEvent }: { readonly cloudEvent: { readonly id: string } }) =>
        void handled.push(cloudEvent.id)
      const binding = new Binding({ endpoints: emulator.endpoints, logger: log, onEvent })
      latest = binding
      onTestFinished(() => binding.close())
      const given = { ...fieldsFor(emulator), ...without(...outputFields), ...fields }
      return { binding, log, handled, ready: binding.init(given, init) }
    },
  }
}

type Components = Awaited<ReturnType<typeof openComponents>>

/** Has the event subscription made, as a pipeline would. */
async function provisioned({ start }: Components, fields: Fields = {}): Promise<void> {
  const first = start(fields)
  await first.ready
  await first.binding.close()
}

const warnings = (log: ReturnType<typeof captureLog>) => log.lines.filter(({ level }) => level === 'warn')
const noCredential = without('tenantId', 'subscriptionId', 'clientId', 'clientSecret')

describe('provisioning: none', () => {
  it.each([
    { name: 'with the credential fields of who provisions', fields: {}, init: {} },
    { name: 'in the background', fields: {}, init: { subscription: 'background' } as const },
    { name: 'without credential fields', fields: { ...noCredential, deliveryToken: oldToken }, init: {} },
    { name: 'without a delivery credential', fields: { ...noCredential, deliveryAuthentication: 'none' }, init: {} },
  ])('takes events and asks neither Resource Manager nor Entra, $name', async ({ fields, init }) => {
    const world = await openComponents()
    const { deliveryToken, deliveryAuthentication }: Fields = fields
    await provisioned(world, { deliveryToken, deliveryAuthentication })
    const asked = world.watch()
    const { binding, handled, ready } = world.start({ ...fields, provisioning: 'none' }, init)
    await ready
    world.raise('one')
    await world.emulator.settled()
    expect(handled).toEqual(['one'])
    expect(binding.health()).toMatchObject({ status: 'healthy', input: { ready: true } })
    await binding.close()
    expect(asked()).toEqual([])
  })

  it('with deliveryAuthentication: entra takes the tokens of Event Grid and no others, and asks Entra for its keys alone', async () => {
    const world = await openComponents()
    const { emulator } = world
    await provisioned(world, { deliveryAuthentication: 'entra' })
    // Signed by the same Entra, for Resource Manager.
    const { token: another } = await credentialOf(emulator).getToken('https://management.azure.com/.default')
    const asked = world.watch()
    const none = { deliveryAuthentication: 'entra', provisioning: 'none', ...without('clientSecret', 'subscriptionId') }
    const { binding, handled, ready } = world.start(none)
    await ready
    world.raise('one')
    await emulator.settled()
    expect(handled).toEqual(['one'])
    const post = (token: string) =>
      fetch(`http://127.0.0.1:${binding.address()?.port}/api/events`, {
        method: 'POST',
        headers: { 'content-type': 'application/cloudevents+json', authorization: `Bearer ${token}` },
        body: JSON.stringify(order('two')),
      })
    expect([await post(another), await post('not.a.token')].map(({ status }) => status)).toEqual([503, 503])
    expect(handled).toEqual(['one'])
    await binding.close()
    expect(new Set(asked().map(({ route, method }) => `${route} ${method}`))).toEqual(new Set(['entra GET']))
  })

  it('receives by pull: by key it asks the namespace alone, by credential it asks Entra too', async () => {
    const byKey = await openPull()
    await byKey.binding.init({ ...byKey.byKey, provisioning: 'none' })
    await byKey.publish(order('one'))
    await eventually(() => expect(byKey.events).toHaveLength(1))
    expect(new Set(byKey.emulator.records.requests.all().map(({ route }) => route))).toEqual(new Set(['namespace']))

    const withCredential = await openPull()
    const { namespaceEndpoint, eventSubscriptionName } = withCredential.byKey
    const fields = { ...withCredential.byCredential, namespaceEndpoint, eventSubscriptionName }
    await withCredential.binding.init({ ...fields, provisioning: 'none' })
    await withCredential.publish(order('one'))
    await eventually(() => expect(withCredential.events).toHaveLength(1))
    const routes = withCredential.emulator.records.requests.all().map(({ route }) => route)
    expect(new Set(routes)).toEqual(new Set(['namespace', 'entra']))
  })
})

describe('provisioning: check', () => {
  it('works with a client that may only read, and sends nothing but GET', async () => {
    const world = await openComponents()
    await provisioned(world)
    world.mayOnlyRead()
    const asked = world.watch()
    const { binding, log, handled, ready } = world.start({ provisioning: 'check' })
    await ready
    world.raise('one')
    await world.emulator.settled()
    expect(handled).toEqual(['one'])
    expect(binding.health()).toMatchObject({ status: 'healthy', input: { reasons: [] } })
    expect(warnings(log)).toEqual([])
    const arm = asked().filter(({ route }) => route === 'arm')
    expect(new Set(arm.map(({ method, status }) => `${method} ${status}`))).toEqual(new Set(['GET 200']))
  })

  it('has init wait until somebody creates it', async () => {
    const world = await openComponents()
    const asked = world.watch()
    const waiting = world.start({ provisioning: 'check' })
    await eventually(() => expect(waiting.log.text()).toContain('does not exist, and provisioning is check'))
    expect(waiting.binding.health()).toMatchObject({ status: 'unhealthy' })
    expect(asked().filter(({ route, method }) => route === 'arm' && method !== 'GET')).toEqual([])
    await provisioned(world)
    await waiting.ready
    expect(waiting.binding.health()).toMatchObject({ status: 'healthy' })
  })

  it('has init end by subscriptionTimeout, and says who could create it', async () => {
    quickenTime()
    const world = await openComponents()
    const { ready } = world.start({ provisioning: 'check', subscriptionTimeout: '20s' })
    const error = await refusal(ready)
    expect(error.code).toBe('TIMEOUT')
    expect(error.message).toContain('does not exist, and provisioning is check')
    expect(error.message).toContain('create it, by eventgrid-binding provision')
    expect(world.existing()).toBeUndefined()
  })

  it('is unhealthy in the background until it exists', async () => {
    const world = await openComponents()
    const waiting = world.start({ provisioning: 'check' }, { subscription: 'background' })
    await waiting.ready
    const missing = expect.stringMatching(/^no event comes: .*does not exist/)
    await eventually(() =>
      expect(waiting.binding.health()).toMatchObject({ status: 'unhealthy', input: { reasons: [missing] } }),
    )
    await provisioned(world)
    await eventually(() => expect(waiting.binding.health()).toMatchObject({ status: 'healthy' }))
  })

  it.each([
    {
      name: 'two fields',
      now: { subjectBeginsWith: '/shop', maxDeliveryAttempts: '7' },
      ...{ says: /subjectBeginsWith.*maxDeliveryAttempts|maxDeliveryAttempts.*subjectBeginsWith/, is: 'degraded' },
    },
    {
      name: 'an address',
      now: { subscriberEndpoint: 'https://other.example.com/api/events' },
      ...{ says: /delivers to/, is: 'unhealthy' },
    },
  ])('warns once of $name that differs, is $is by it, and leaves it as it is', async ({ now, says, is }) => {
    const world = await openComponents()
    await provisioned(world)
    const before = structuredClone(world.existing()?.properties)
    world.mayOnlyRead()
    const { binding, log, ready } = world.start({ ...now, provisioning: 'check' })
    await ready
    const reason = expect.stringMatching(says)
    expect(binding.health()).toMatchObject({ status: is, input: { reasons: [reason] } })
    expect(warnings(log).map(({ message }) => message)).toEqual([reason])
    expect(world.existing()?.properties).toEqual(before)
  })

  it('by pull works with a client that may read and receive, and sends Resource Manager nothing but GET', async () => {
    const { emulator, binding, byCredential, events, publish } = await openPull()
    emulator.removeRoles(emulator.clientId)
    for (const role of ['Reader', 'EventGrid Data Receiver']) emulator.assignRole(emulator.clientId, role)
    await binding.init({ ...byCredential, eventSubscriptionName: 'app', provisioning: 'check' })
    await publish(order('one'))
    await eventually(() => expect(events).toHaveLength(1))
    expect(binding.health()).toMatchObject({ status: 'healthy' })
    const arm = emulator.records.requests.filter(({ route }) => route === 'arm')
    expect(new Set(arm.map(({ method }) => method))).toEqual(new Set(['GET']))
  })

  it('by pull is unhealthy until it exists, and warns once of what differs', async () => {
    const missing = await openPull()
    const fields = { ...missing.byCredential, eventSubscriptionName: 'later', provisioning: 'check' }
    await missing.binding.init(fields, { subscription: 'background' })
    await eventually(() => expect(missing.binding.health()).toMatchObject({ status: 'unhealthy' }))
    expect(missing.binding.health().input?.reasons).toContainEqual(expect.stringMatching(/^no event comes/))
    expect(
      missing.emulator.records.requests.filter(({ method, route }) => route === 'arm' && method !== 'GET'),
    ).toEqual([])

    const { binding, log, byCredential } = await openPull()
    await binding.init({ ...byCredential, lockDuration: '4m', eventSubscriptionName: 'app', provisioning: 'check' })
    expect(binding.health()).toMatchObject({ status: 'degraded' })
    expect(warnings(log)).toHaveLength(1)
  })
})

it.each(['none', 'check'])(
  '%s: answers an unknown credential 503, asks nobody, and says who has to write it',
  async (provisioning) => {
    const world = await openComponents()
    await provisioned(world, { deliveryToken: oldToken })
    const before = structuredClone(world.existing()?.properties)
    const { binding, handled, log, ready } = world.start({ deliveryToken: newToken, provisioning })
    await ready
    const asked = world.watch()
    world.raise('one')
    await world.deliveries.waitFor(({ status }) => status === 503)
    const says = expect.stringContaining(
      'run eventgrid-binding provision with the metadata and secrets of this process',
    )
    expect(binding.health().input).toMatchObject({ status: 'degraded', reasons: expect.arrayContaining([says]) })
    await binding.close()
    const line = log.lines.find(({ message }) =>
      message.startsWith('put off a delivery: it names our event subscription'),
    )
    expect(line?.message).not.toContain('reading')
    expect([handled, asked()]).toEqual([[], []])
    expect(world.existing()?.properties).toEqual(before)
  },
)

it('is healthy again when the event subscription, read after a forged delivery in its name, has our credential', async () => {
  const world = await openComponents()
  const { binding, ready } = world.start({})
  await ready
  const asked = world.watch()
  const forged = await fetch(`http://127.0.0.1:${binding.address()?.port}/api/events`, {
    ...{ method: 'POST', body: JSON.stringify(order('one')) },
    headers: { 'content-type': 'application/cloudevents+json', 'aeg-subscription-name': 'ORDERS' },
  })
  expect(forged.status).toBe(503)
  await expect.poll(() => asked().length).toBeGreaterThan(0)
  await expect.poll(() => binding.health().status).toBe('healthy')
})

it('refuses no delivery where provisioning alone changes', async () => {
  const world = await openComponents()
  for (const [index, provisioning] of ['manage', 'check', 'none', 'manage', 'none', 'check', 'manage'].entries()) {
    const { binding, handled, ready } = world.start({ provisioning })
    await ready
    world.raise(String(index))
    await world.emulator.settled()
    expect(handled).toEqual([String(index)])
    await binding.close()
  }
  expect(new Set(world.deliveries.all().map(({ status }) => status))).toEqual(new Set([200]))
})
