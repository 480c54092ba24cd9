import { once } from 'node:events'
import { expect, it, onTestFinished } from 'vitest'
import { ManualClock } from '../../../packages/emulator/src/index.ts'
import { Binding, type ReceivedEvent, RejectEvent } from '../../../src/index.ts'
import { createMetrics, figuresOf } from '../../../src/sidecar/shared/metrics.ts'
import { sendArm } from '../../support/azure-clients.ts'
import { eventHubId } from '../../support/azure-ids.ts'
import { openPull, order, queue } from '../../support/open-pull.ts'
import { quickenTime } from '../../support/quick-time.ts'
import { refusal } from '../../support/refusal.ts'

const receiverRole = { role: 'EventGrid Data Receiver' }
/** A client that may all, and the topic `orders` without an event subscription. */
const clients = [{ roles: [{ role: 'EventGrid Contributor' }, receiverRole] }]
const namespaces = [{ name: 'shop', topics: [{ name: 'orders' }] }]
const identity = { type: 'SystemAssigned' }
const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'

it('receives with key and endpoint alone, acknowledges, and leaves Resource Manager alone', async () => {
  const { emulator, binding, log, events, publish, byKey } = await openPull()
  await binding.init(byKey)
  await publish(order('one', { traceparent }))
  await emulator.settled()
  const metadata = { 'aeg-subscription-name': 'APP', 'aeg-delivery-count': '0', traceparent }
  const cloudEvent = { id: 'one', data: { article: 'lamp' } }
  expect(events).toMatchObject([{ contentType: 'application/cloudevents+json', cloudEvent, metadata }])
  expect(emulator.records.requests.filter(({ route }) => route === 'arm' || route === 'entra')).toEqual([])
  expect(binding.address()).toBeUndefined()
  const pull = { received: 1, settled: { acknowledge: 1 } }
  await expect.poll(() => binding.health()).toMatchObject({ status: 'healthy', input: { pull } })
  // At level debug an operator sees that something happens.
  expect(log.text()).toMatch(/debug received {"events":1,/)
  expect(log.text()).toContain('debug settled {"operation":"acknowledge","events":1,"failed":0}')
})

it('gives the handler the bytes of each event, and its trace context only where it is valid', async () => {
  const { emulator, binding, events, publish, byKey } = await openPull()
  await binding.init(byKey)
  const valid = { traceparent, tracestate: 'shop=1' }
  await publish(
    order('valid', valid),
    order('zeros', { traceparent: `00-${'0'.repeat(32)}-${'0'.repeat(16)}-00`, tracestate: 'shop=1' }),
    order('text', { traceparent: 'x' }),
    order('state-alone', { tracestate: 'shop=1' }),
  )
  await emulator.settled()
  const seen = events.map(({ data, metadata: { traceparent, tracestate } }) => [
    JSON.parse(data.toString()).id,
    { traceparent, tracestate },
  ])
  expect(Object.fromEntries(seen)).toEqual({ valid, zeros: {}, text: {}, 'state-alone': {} })
})

it("as an emulator's own client, creates the event subscription through Resource Manager and asks it for the host", async () => {
  const { emulator, binding, events, publish, byCredential } = await openPull({ emulator: { namespaces } })
  await binding.init({
    name: 'orders',
    properties: { ...byCredential, includedEventTypes: 'order.placed', maxDeliveryAttempts: '5', lockDuration: '2m' },
  })
  await publish(order('one'), order('two', { type: 'order.paid' }))
  await emulator.settled()
  expect(events.map(({ cloudEvent }) => cloudEvent.id)).toEqual(['one'])
  const writes = emulator.records.requests.filter(({ route, method }) => route === 'arm' && method === 'PUT')
  const lockedFor2m = { receiveLockDurationInSeconds: 120, maxDeliveryCount: 5 }
  expect(writes.map(({ body }) => body)).toEqual([
    {
      properties: {
        eventDeliverySchema: 'CloudEventSchemaV1_0',
        deliveryConfiguration: { deliveryMode: 'Queue', queue: lockedFor2m },
        filtersConfiguration: { includedEventTypes: ['order.placed'] },
      },
    },
  ])
})

it('leaves an event subscription that is as it should be, and what the operator set in it', async () => {
  const properties = { deliveryConfiguration: { deliveryMode: 'Queue', queue: { maxDeliveryCount: 3 } } }
  const topics = [{ name: 'orders', eventSubscriptions: [{ name: 'orders', properties }] }]
  const { emulator, binding, byCredential } = await openPull({
    emulator: { clients, namespaces: [{ name: 'shop', topics }] },
  })
  await binding.init({ name: 'orders', properties: byCredential })
  await binding.close()
  const again = new Binding({ endpoints: emulator.endpoints })
  onTestFinished(() => again.close())
  await again.init({ name: 'orders', properties: { ...byCredential, lockDuration: '90s' } })
  const writes = emulator.records.requests.filter(({ route, method }) => route === 'arm' && method !== 'GET')
  expect(writes.map(({ body }) => body)).toMatchObject([
    { properties: { deliveryConfiguration: { queue: { maxDeliveryCount: 3, receiveLockDurationInSeconds: 90 } } } },
  ])
})

it.each([
  { ends: 'throws', handler: () => Promise.reject(new Error('not now')), settled: 'release' },
  { ends: 'was refused', handler: async () => new Response('no', { status: 503 }), settled: 'release' },
  { ends: 'rejects', handler: () => Promise.reject(new RejectEvent('never')), settled: 'reject' },
])('settles by $settled what the handler $ends', async ({ handler, settled }) => {
  const clock = new ManualClock()
  let calls = 0
  const onEvent = (): unknown => (calls++ === 0 ? handler() : undefined)
  const { emulator, binding, publish, byKey } = await openPull({ emulator: { clock }, binding: { onEvent } })
  await binding.init(byKey)
  await publish(order('one'))
  await emulator.settled()
  const counts = { [settled]: 1, acknowledge: settled === 'reject' ? 0 : 1 }
  await expect.poll(() => binding.health().input?.pull?.settled).toMatchObject(counts)
  const deadLetters = emulator.records.deadLetters.all().flatMap(({ events }) => events)
  expect(deadLetters).toMatchObject(settled === 'reject' ? [{ id: 'one' }] : [])
})

it('receives nothing until a handler is there', async () => {
  const { emulator, binding, publish, byKey } = await openPull({ silent: true })
  await binding.init(byKey)
  await publish(order('one'))
  expect(binding.health()).toMatchObject({ status: 'degraded' })
  expect([...emulator.queues().values()]).toEqual([{ available: 1, locked: 0, delayed: 0 }])
  binding.read(() => {})
  await emulator.settled()
})

it('has no more events in hand than handler calls are free', async () => {
  quickenTime()
  const { promise: open, resolve } = Promise.withResolvers<void>()
  let running = 0
  let most = 0
  const onEvent = async () => {
    most = Math.max(most, ++running)
    await open
    running--
  }
  const { emulator, binding, publish, byKey } = await openPull({ binding: { onEvent } })
  await binding.init({ ...byKey, maxConcurrency: '4' })
  await publish(...Array.from({ length: 20 }, (_, index) => order(String(index))))
  while (running < 4) await new Promise((settle) => setImmediate(settle))
  expect([...emulator.queues().values()]).toEqual([{ available: 16, locked: 4, delayed: 0 }])
  resolve()
  await emulator.settled()
  expect(most).toBe(4)
})

it('handles anew what returned because its signal aborted, and aborts no signal of another event of the receive', async () => {
  quickenTime()
  const signals = new Map<string, AbortSignal>()
  const calls: string[] = []
  const onEvent = async ({ cloudEvent: { id }, signal }: ReceivedEvent) => {
    calls.push(id)
    if (signals.has(id)) return
    signals.set(id, signal)
    if (id === 'slow') await once(signal, 'abort')
  }
  const { emulator, binding, publish, byKey } = await openPull({ binding: { onEvent } })
  await publish(order('quick'), order('slow'))
  await binding.init({ ...byKey, handlerTimeout: '1s' })
  await emulator.settled()
  expect(signals.get('slow')?.aborted).toBe(true)
  expect(signals.get('quick')?.aborted).toBe(false)
  expect(calls).toEqual(['quick', 'slow', 'slow'])
})

it('asks for fewer events where they are large, so that an answer takes less time than a lock lasts', async () => {
  const { emulator, binding, events, publish, byKey } = await openPull({ silent: true })
  await binding.init(byKey, { subscription: 'background' })
  for (let first = 0; first < 30; first += 2) {
    await publish(...[first, first + 1].map((id) => order(String(id), { data: 'x'.repeat(500_000) })))
  }
  binding.read((event) => void events.push(event))
  await emulator.settled()
  expect(events).toHaveLength(30)
  const receives = emulator.records.requests.filter(({ url }) => url.includes(':receive'))
  const asked = receives.map(({ url }) => Number(new URLSearchParams(url.split('?')[1]).get('maxEvents')))
  expect(asked.slice(0, 3)).toEqual([16, 8, 8])
})

it('goes on after the namespace was away, and says what is wrong meanwhile', async () => {
  quickenTime()
  const { emulator, binding, log, events, publish, byKey } = await openPull()
  emulator.failNext({ route: 'namespace', status: 503, times: 2, matches: ({ url }) => url.includes(':receive') })
  await binding.init(byKey, { subscription: 'background' })
  await publish(order('one'))
  await emulator.settled()
  expect(events).toHaveLength(1)
  expect(log.text()).toContain('events cannot be received: status 503')
  expect(log.text()).toContain('events are received again')
})

it('handles an event once though its acknowledgement failed and it comes again', async () => {
  const clock = new ManualClock()
  const { emulator, binding, events, publish, byKey } = await openPull({ emulator: { clock } })
  await binding.init(byKey)
  emulator.failNext({ route: 'namespace', status: 400, matches: ({ url }) => url.includes(':acknowledge') })
  await publish(order('one'))
  await expect.poll(() => binding.health().input?.pull).toMatchObject({ failedSettlements: 1 })
  await clock.advance(60_000)
  await emulator.settled()
  const repeated = { received: 2, settled: { acknowledge: 1 } }
  await expect.poll(() => binding.health().input?.pull).toMatchObject(repeated)
  expect(events).toHaveLength(1)
})

it('handles an event once though it comes again before its acknowledgement is answered', async () => {
  quickenTime()
  const clock = new ManualClock()
  const { emulator, binding, events, publish, byKey } = await openPull({ emulator: { clock } })
  await binding.init(byKey)
  const { promise: asked, resolve: ask } = Promise.withResolvers<void>()
  const isFirst = ({ url }: { readonly url: string }) => {
    if (!url.includes(':acknowledge')) return false
    ask()
    return true
  }
  // Longer than the lock.
  emulator.failNext({ route: 'namespace', delayMs: 61_000, matches: isFirst })
  await publish(order('one'))
  await asked
  await clock.advance(60_000)
  await emulator.settled()
  await expect.poll(() => binding.health().input?.pull).toMatchObject({ received: 2, settled: { acknowledge: 1 } })
  await clock.advance(1_000)
  await expect.poll(() => binding.health().input?.pull).toMatchObject({ failedSettlements: 1 })
  expect(events).toHaveLength(1)
})

it.each([
  ['a wrong key', { namespaceKey: 'd3Jvbmcga2V5' }, 'Emulator: it prints the keys at its start'],
  ['a missing event subscription', { eventSubscriptionName: 'nobody' }, 'create the event subscription nobody'],
])('says what to do about %s', async (_fault, change, says) => {
  const { binding, log, byKey } = await openPull()
  await binding.init({ ...byKey, ...change }, { subscription: 'background' })
  while (!log.text().includes('events cannot be received')) await new Promise((settle) => setImmediate(settle))
  expect(log.text()).toContain(says)
  expect(binding.health().status).toBe('unhealthy')
})

it('names the role that is missing to write the event subscription, and the topic that is missing', async () => {
  const { binding, byCredential } = await openPull({ emulator: { clients: [{ roles: [] }] } })
  const denied = await refusal(binding.init(byCredential))
  expect(denied.code).toBe('PERMISSION_DENIED')
  expect(denied.message).toMatch(/Emulator: .* clients: \[\{ clientId: \S+, roles: \[EventGrid Contributor\] \}\]\.\)/)
  expect(denied.message).toContain('--role "EventGrid Contributor"')
  const client = { roles: [{ role: 'EventGrid Contributor' }] }
  const other = await openPull({ emulator: { clients: [client] } })
  const namespaceTopic = other.topic.id.replace('orders', 'nothing')
  const missing = await refusal(other.binding.init({ ...other.byCredential, namespaceTopic }))
  expect(missing.code).toBe('SCOPE_NOT_FOUND')
  expect(missing.message).toContain('check namespaceTopic, and that the resource exists')
})

it('reads the host name of the namespace again after a failure, with subscription: background', async () => {
  const { emulator, binding, events, publish, byCredential } = await openPull()
  const matches = ({ url }: { readonly url: string }) => /\/namespaces\/shop\?/.test(url)
  emulator.failNext({ route: 'arm', matches, status: 503, retryAfter: 0 })
  await binding.init({ ...byCredential, eventSubscriptionName: 'app' }, { subscription: 'background' })
  await publish(order('one'))
  await expect.poll(() => events, { timeout: 30_000 }).toHaveLength(1)
  expect(binding.health()).toMatchObject({ status: 'healthy' })
})

it('says that the client may not read the host name of the namespace', async () => {
  const { emulator, binding, topic, byCredential } = await openPull({ emulator: { clients: [{ roles: [] }] } })
  emulator.assignRole(emulator.clientId, 'EventGrid Contributor', topic.id)
  const byBoth = { ...byCredential, namespaceKey: topic.key, eventSubscriptionName: 'app' }
  const denied = await refusal(binding.init(byBoth))
  expect(denied.code).toBe('PERMISSION_DENIED')
  expect(denied.message).toMatch(/may not read the host name of \S+\/namespaces\/shop .*set namespaceEndpoint, or /s)
})

it.each(['wait', 'background'] as const)(
  'receives with the role EventGrid Data Receiver alone where namespaceEndpoint is given, with subscription: %s',
  async (subscription) => {
    const { emulator, binding, log, events, topic, publish, byCredential } = await openPull({
      emulator: { clients: [{ roles: [receiverRole] }] },
    })
    const { namespaceEndpoint } = topic
    await binding.init({ ...byCredential, namespaceEndpoint, eventSubscriptionName: 'app' }, { subscription })
    await publish(order('one'))
    await emulator.settled()
    await expect.poll(() => events).toHaveLength(1)
    await expect.poll(() => binding.health()).toMatchObject({ status: 'healthy' })
    expect(log.text()).toContain('warn events are received from the event subscription app as it is: the client may')
    expect(log.text()).toContain('--role "EventGrid Contributor"')
  },
)

it('does not start with the role EventGrid Data Receiver alone where the event subscription is missing', async () => {
  quickenTime()
  const { binding, topic, byCredential } = await openPull({ emulator: { clients: [{ roles: [receiverRole] }] } })
  const { namespaceEndpoint } = topic
  const fields = { ...byCredential, namespaceEndpoint, eventSubscriptionName: 'nobody', subscriptionTimeout: '5s' }
  const refused = await refusal(binding.init(fields))
  expect(refused).toMatchObject({ code: 'SCOPE_NOT_FOUND', message: expect.stringContaining('nobody') })
})

it.each([
  {
    what: 'Entra refuses the client',
    fields: { provisioning: 'none', clientSecret: 'wrong' },
    code: 'CREDENTIALS_REJECTED',
    says: 'clientSecret',
  },
  {
    what: 'the client may write event subscriptions and not receive',
    fields: {},
    code: 'PERMISSION_DENIED',
    says: '--role "EventGrid Data Receiver"',
  },
])('does not start where $what', async ({ fields, code, says }) => {
  const { binding, topic, byCredential } = await openPull({
    emulator: { clients: [{ roles: [{ role: 'EventGrid Contributor' }] }] },
  })
  const { namespaceEndpoint } = topic
  const given = { ...byCredential, namespaceEndpoint, eventSubscriptionName: 'app', ...fields }
  const refused = await refusal(binding.init(given))
  expect(refused).toMatchObject({ code, message: expect.stringContaining(says) })
  expect(binding.health().input).toBeUndefined()
})

it('warns of fields of push that have no effect', async () => {
  const { binding, log, byKey } = await openPull()
  await binding.init({ ...byKey, handshakePort: '9000' })
  expect(log.text()).toContain('handshakePort has no effect with deliveryMode pull')
})

it('publishes to a namespace topic, and receives it', async () => {
  const { emulator, binding, events, topic, byKey } = await openPull()
  await binding.init({ ...byKey, topicEndpoint: topic.endpoint, accessKey: topic.key })
  const answer = await binding.invoke('create', { article: 'lamp' }, { metadata: { type: 'order.placed', id: 'one' } })
  expect(answer.metadata).toMatchObject({ ids: '["one"]', count: '1' })
  await emulator.settled()
  expect(events).toMatchObject([{ cloudEvent: { id: 'one', type: 'order.placed', data: { article: 'lamp' } } }])
})

it('forwards the events of another scope to the namespace topic, and receives them', async () => {
  const { emulator, binding, events, byCredential } = await openPull({ emulator: { clients, namespaces } })
  const scope = emulator.topic('orders').id
  await binding.init({ name: 'forwarded', properties: { ...byCredential, scope, subjectBeginsWith: 'eu/' } })
  emulator.raise('orders', [order('one', { subject: 'eu/1' }), order('two', { subject: 'us/1' })])
  await emulator.settled()
  expect(events.map(({ cloudEvent }) => cloudEvent.id)).toEqual(['one'])
  await binding.close()
  const again = new Binding({ endpoints: emulator.endpoints })
  onTestFinished(() => again.close())
  const writes = () =>
    emulator.records.requests.filter(({ route, method }) => route === 'arm' && /PUT|PATCH/.test(method)).length
  expect(writes()).toBe(2)
  await again.init({ name: 'forwarded', properties: { ...byCredential, scope, subjectBeginsWith: 'eu/' } })
  expect(writes()).toBe(2)
})

it('creates the event subscription again that is deleted while it is being provisioned', async () => {
  quickenTime()
  const { emulator, binding, byCredential } = await openPull({
    emulator: { clients, namespaces, operationDelayMs: 1_500 },
  })
  const scope = emulator.topic('orders').id
  const path = `${scope}/providers/Microsoft.EventGrid/eventSubscriptions/forwarded`
  const initialised = binding.init({ name: 'forwarded', properties: { ...byCredential, scope } })
  await expect.poll(() => emulator.eventSubscription('orders', 'forwarded')).toBeDefined()
  await sendArm(emulator, path, { method: 'DELETE' })
  // The binding meets it as it is being deleted, or its own operation gone: either way it creates it again.
  await initialised
  expect(emulator.eventSubscription('orders', 'forwarded')).toMatchObject({ provisioningState: 'Succeeded' })
})

it('refuses to take the place of a webhook event subscription at the scope, unless replaceDestination says so', async () => {
  const eventSubscriptions = [{ name: 'taken', endpoint: 'https://orders.example.com/api/events' }]
  const { emulator, binding, byCredential } = await openPull({ emulator: { clients, eventSubscriptions } })
  await emulator.idle()
  const component = { name: 'taken', properties: { ...byCredential, scope: emulator.topic('orders').id } }
  const { code, message } = await refusal(binding.init(component))
  expect([code, message]).toEqual(['SUBSCRIPTION_REJECTED', expect.stringContaining('delivers to WebHook')])
  await binding.init({ ...component, properties: { ...component.properties, replaceDestination: 'true' } })
  expect(emulator.eventSubscription('orders', 'taken')?.properties.destination).toMatchObject({
    endpointType: 'NamespaceTopic',
  })
})

it.each([
  { type: 'EventHub', isRefused: true, becomes: { destination: { endpointType: 'NamespaceTopic' } } },
  { type: 'NamespaceTopic', isRefused: false, becomes: { deliveryWithResourceIdentity: { identity } } },
])('meets an event subscription that delivers to $type by a managed identity', async ({ type, isRefused, becomes }) => {
  const { emulator, binding, topic, byCredential } = await openPull({ emulator: { clients, namespaces: queue } })
  const scope = emulator.topic('orders').id
  const path = `${scope}/providers/Microsoft.EventGrid/eventSubscriptions/taken`
  const destination = { endpointType: type, properties: { resourceId: isRefused ? eventHubId : topic.id } }
  const delivery = { deliveryWithResourceIdentity: { identity, destination } }
  const body = JSON.stringify({ properties: { ...delivery, eventDeliverySchema: 'CloudEventSchemaV1_0' } })
  expect((await sendArm(emulator, path, { method: 'PUT', body })).status).toBe(201)
  await emulator.idle()
  const component = { name: 'taken', properties: { ...byCredential, scope } }
  if (isRefused) {
    const { code, message } = await refusal(binding.init(component))
    expect(code).toBe('SUBSCRIPTION_REJECTED')
    expect(message).toContain('delivers to EventHub by a managed identity and not to a namespace topic')
    await binding.init({ ...component, properties: { ...component.properties, replaceDestination: 'true' } })
  } else await binding.init(component)
  const stands = emulator.eventSubscription('orders', 'taken')?.properties ?? {}
  expect(stands).toMatchObject(becomes)
  expect(Object.keys(stands)).not.toEqual(expect.arrayContaining(['destination', 'deliveryWithResourceIdentity']))
})

it('is unhealthy once every event fails, until one is handled', async () => {
  let isDown = true
  const onEvent = () => {
    if (isDown) throw new Error('the application is down')
  }
  const { binding, publish, byKey } = await openPull({ binding: { onEvent } })
  await binding.init(byKey)
  await publish(...Array.from({ length: 9 }, (_, index) => order(`nine-${index}`)))
  await expect.poll(() => binding.health().input?.pull?.settled.release).toBeGreaterThan(8)
  await publish(order('tenth'))
  const reasons = [expect.stringMatching(/^the application failed the last \d+ events: look at its log/)]
  await expect.poll(() => binding.health()).toMatchObject({ status: 'unhealthy', input: { reasons } })
  isDown = false
  await publish(order('handled'))
  await expect.poll(() => binding.health().status).toBe('healthy')
})

it('counts for Prometheus what was received and settled', async () => {
  const { emulator, binding, publish, byKey } = await openPull()
  const metrics = createMetrics()
  metrics.watch(() => [figuresOf('orders', binding.health(), { inFlight: 0 })])
  await binding.init(byKey)
  expect(await metrics.text()).toMatch(/pull_settled_total\{component="orders",kind="release"\} 0/)
  await publish(order('one'), order('two'))
  await emulator.settled()
  await expect.poll(() => metrics.text()).toContain('pull_settled_total{component="orders",kind="acknowledge"} 2')
  const text = await metrics.text()
  for (const [name, count] of Object.entries({ received: 2, failed_settlements: 0, lock_renewals: 0 }))
    expect(text).toContain(`eventgrid_binding_pull_${name}_total{component="orders"} ${count}`)
  expect(text).toMatch(/eventgrid_binding_pull_receives_total\{component="orders",status="200"\} [1-9]/)
})

it('asks the emulator in the place of a namespace with a host name of Azure', async () => {
  const { emulator, binding, events, publish, byKey } = await openPull()
  await binding.init({ ...byKey, namespaceEndpoint: 'https://shop.westeurope-1.eventgrid.azure.net' })
  await publish(order('one'))
  await emulator.settled()
  expect(events).toHaveLength(1)
})

it.each([
  {
    what: 'a wrong key',
    fields: { namespaceKey: 'd3Jvbmc=' },
    code: 'CREDENTIALS_REJECTED',
    fix: 'check namespaceKey',
  },
  {
    what: 'a missing event subscription',
    fields: { eventSubscriptionName: 'nobody' },
    code: 'SCOPE_NOT_FOUND',
    fix: 'create the event subscription nobody',
  },
])('init that waits rejects for $what, and can be called again', async ({ fields, code, fix }) => {
  quickenTime()
  const { emulator, binding, events, publish, byKey } = await openPull()
  const refused = await refusal(binding.init({ ...byKey, ...fields, subscriptionTimeout: '5s' }))
  expect(refused.code).toBe(code)
  expect(refused.message).toContain('events cannot be received: ')
  expect(refused.fix).toContain(fix)
  expect(binding.health().input).toBeUndefined()
  await binding.init(byKey)
  await publish(order('one'))
  await emulator.settled()
  expect(events).toHaveLength(1)
})

it('init that waits resolves when the event subscription comes, and in the background it does not wait', async () => {
  const { emulator, binding, byKey } = await openPull({ emulator: { namespaces } })
  const other = new Binding({ endpoints: emulator.endpoints })
  onTestFinished(() => other.close())
  await other.init(byKey, { subscription: 'background' })
  const waiting = binding.init(byKey)
  await emulator.records.requests.waitFor(({ route, status }) => route === 'namespace' && status === 404)
  emulator.reconfigure({ namespaces: queue })
  await waiting
})
