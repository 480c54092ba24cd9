import { describe, expect, it } from 'vitest'
import { startEmulator } from '../../../../test/support/start-emulator.ts'
import { EventGridEmulator, ManualClock } from '../../src/index.ts'

/** What plain JavaScript may pass: no type speaks up here. */
const untyped = (json: string) => JSON.parse(json)

describe('start() refuses', () => {
  it.each([
    { options: '{"topcs": []}', says: 'topcs is not a field; did you mean topics?' },
    {
      options: '{"colour": "red"}',
      says: 'colour is not a field here; the fields are port, httpPort, blobPort, host,',
    },
    { options: '{"topics": "orders"}', says: 'topics must be a list' },
    { options: '{"topics": ["orders"]}', says: 'topics[0] must be a mapping' },
    { options: '{"topics": [{"nmae": "orders"}]}', says: 'topics[0].nmae is not a field; did you mean name?' },
    { options: '{"topics": [{"nmae": "orders"}]}', says: 'topics[0].name is required' },
    { options: '{"topics": [{"name": "a"}]}', says: 'topics[0].name must be 3 to 50 letters, digits and hyphens' },
    { options: '{"topics": [{"name": "abc", "keys": ["AAAA"]}]}', says: 'topics[0].keys must be a list of two' },
    { options: '{"topics": [{"name": "abc"}, {"name": "ABC"}]}', says: 'topics[1].name is given twice' },
    {
      options: '{"topics": [{"name": "abc", "inputSchema": "CloudEvents"}]}',
      says: 'must be CloudEventSchemaV1_0 or EventGridSchema or',
    },
    { options: '{"subscriptions": [{"ID": "1"}]}', says: 'subscriptions[0].ID is not a field; did you mean id?' },
    { options: '{"ingress": [{"form": "https://a.example/"}]}', says: 'did you mean from?' },
    {
      options: '{"eventSubscriptions": [{"name": "shop", "url": "https://a.example/"}]}',
      says: '[0].url is not a field',
    },
    {
      options: '{"clients": [{"roles": ["Ownr"]}]}',
      says: 'clients[0].roles[0].role must be a role that the emulator',
    },
    { options: '{"clients": [{"clientSecret": []}]}', says: 'clientSecret must name one at least' },
    { options: '{"storage": [{"account": "acc", "url": "http://x"}]}', says: 'storage[0].url is not a field' },
    { options: '{"deliver": {"a": "http://x"}}', says: 'deliver.a has a name that must be 3 to 50 letters' },
    {
      options: '{"deliver": {"orders": 5}}',
      says: 'deliver.orders must be a URL, like http://127.0.0.1:3000/hook, or',
    },
    { options: '{"maxRecordBytes": 0}', says: 'maxRecordBytes must be 1 or more' },
    { options: '{"deadLetterConnectionString": "x"}', says: 'in code there is deadLetterStore' },
    {
      options:
        '{"namespaces": [{"name": "shop", "topics": [{"name": "new", "eventSubscriptions": [{"name": "app", "properties": {"deliveryConfiguration": {"deliveryMode": "Push"}}}]}]}]}',
      says: 'namespaces[0].topics[0].eventSubscriptions[0].properties.deliveryConfiguration.deliveryMode is refused: The emulator does not',
    },
    {
      options: '{"namespaces": [{"name": "shop", "topics": [{"name": "new"}, {"name": "New"}]}]}',
      says: 'namespaces[0].topics[1].name is given twice',
    },
    {
      options: '{"storage": [{"account": "acc", "azurite": "ftp://x"}]}',
      says: 'storage[0].azurite must be a URL',
    },
    {
      options: '{"topics": [{"name": "same"}], "domains": [{"name": "same"}]}',
      says: 'domains[0].name is a name that is taken in westeurope',
    },
    {
      options:
        '{"deliver": {"orders": "http://127.0.0.1:1/"}, "eventSubscriptions": [{"name": "orders", "endpoint": "https://a.example/"}]}',
      says: 'eventSubscriptions[1].name is given twice',
    },
    { options: '"orders"', says: 'the options must be an object' },
  ])('$options', async ({ options, says }) => {
    const starting = EventGridEmulator.start(untyped(options))
    await expect(starting).rejects.toThrow(TypeError)
    await expect(starting).rejects.toThrow(says)
  })
})

it('a mistake in options that come later changes nothing', async () => {
  const emulator = await startEmulator()
  expect(() => emulator.reconfigure(untyped('{"topcs": []}'))).toThrow('did you mean topics?')
  expect(() => emulator.addTopic(untyped('{"name": "returns", "key": []}'))).toThrow('did you mean keys?')
  expect(() => emulator.addTopic(untyped('{"name": "a"}'))).toThrow('name must be 3 to 50 letters')
  expect(() => emulator.addTopic(untyped('{"name": "abc", "keys": ["AAAA"]}'))).toThrow('keys must be a list of two')
  expect(() => emulator.addTopic(untyped('null'))).toThrow('the topic must be a mapping')
  expect(emulator.topics().map(({ name }) => name)).toEqual(['orders'])
})

it.each([
  {
    fault: '{"route": "delivry", "status": 503}',
    says: /^route must be arm or .* or operation; did you mean delivery\?$/,
  },
  { fault: '{"status": 503}', says: /^route is required$/ },
  { fault: '{"route": "arm", "stauts": 503}', says: /^stauts is not a field; did you mean status\?$/m },
  { fault: '{"route": "arm", "status": 503, "times": 0}', says: /^times must be 1 or more$/ },
  { fault: '{"route": "arm", "drop": true, "matches": "/x"}', says: /^matches must be a mapping$/ },
  {
    fault: '{"route": "arm", "delayMs": -1, "status": 99}',
    says: /^status must be 200 or more\ndelayMs must be 0 or more$/,
  },
  { fault: '{"route": "topic"}', says: /^the fault has no effect at this route: give it status, delayMs or drop$/ },
])('failNext() refuses $fault, which could never happen', async ({ fault, says }) => {
  const emulator = await startEmulator()
  expect(() => emulator.failNext(untyped(fault))).toThrow(says)
})

it('events(), requests() and reset() refuse what the interface over HTTP refuses', async () => {
  const emulator = await startEmulator()
  expect(() => emulator.events({ limit: -1 })).toThrow(new TypeError('limit must be 1 or more'))
  expect(() => emulator.events(untyped('{"topc": "orders"}'))).toThrow('topc is not a field; did you mean topic?')
  expect(() => emulator.requests(untyped('{"route": "delivery"}'))).toThrow('route must be arm or entra or')
  await expect(emulator.reset(untyped('{"resources": "yes"}'))).rejects.toThrow('resources must be true or false')
  expect(emulator.events({ topic: undefined, limit: 1 }).events).toEqual([])
})

it('an unknown topic, domain or namespace is answered by the name that was meant, or by the known names', async () => {
  const emulator = await startEmulator({
    topics: [{ name: 'orders' }, { name: 'parcels' }],
    namespaces: [{ name: 'shop', topics: [{ name: 'returns' }] }],
  })
  expect(() => emulator.topic('order')).toThrow('there is no topic order; did you mean orders?')
  expect(() => emulator.topic('x')).toThrow('there is no topic x; there are orders, parcels')
  expect(() => emulator.domain('x')).toThrow('there is no domain x; there are none')
  expect(() => emulator.namespaceTopic('x')).toThrow('there is no topic x in the namespace shop; there are returns')
  expect(() => emulator.namespaceTopic('returns', 'shp')).toThrow('there is no namespace shp; did you mean shop?')
  const starting = EventGridEmulator.start({
    eventSubscriptions: [{ name: 'audit', topic: 'order', endpoint: 'https://a.example/' }],
  })
  await expect(starting).rejects.toThrow('eventSubscriptions[0].topic must be one of topics; did you mean orders?')
})

describe('raise()', () => {
  const order = { specversion: '1.0', id: 'one', source: '/shop', type: 'order.placed' }

  it.each<{ name: string; source: (emulator: EventGridEmulator) => string }>([
    { name: 'the name of a topic', source: () => 'orders' },
    { name: 'its resource id', source: (emulator) => emulator.topic().id },
    { name: 'the id without its leading slash', source: (emulator) => emulator.topic().id.slice(1) },
  ])('takes $name', async ({ source }) => {
    const emulator = await startEmulator()
    emulator.raise(source(emulator), [order])
    expect(emulator.figures().published).toBe(1)
    // It is checked as an event of that topic, so it was not taken for some other source's.
    expect(() => emulator.raise(source(emulator), [{ ...order, type: undefined }])).toThrow('event 0: ')
  })

  it.each([
    { source: '"ordres"', says: '"ordres" is neither a resource id, which begins with a slash, nor the name' },
    { source: '"ordres"', says: 'did you mean orders?' },
    { source: '"returns"', says: 'there are orders' },
    { source: '{"id": "/x"}', says: 'the source must be a resource id or the name of a topic or domain' },
  ])('refuses the source $source: $says', async ({ source, says }) => {
    const emulator = await startEmulator()
    expect(() => emulator.raise(untyped(source), [order])).toThrow(says)
  })

  const azure = '/subscriptions/33333333-3333-4333-8333-333333333333'
  const inGroup = `${azure}/resourceGroups/rg/providers`
  it.each([
    { source: '/subscriptions/33333333-3333-4333-8333-33333333333a', says: 'there is no Azure subscription' },
    { source: `${azure.slice(0, -1)}0/resourceGroups/rg/providers/A.B/c/d`, says: `did you mean ${azure.slice(15)}?` },
    { source: `${azure}/resourceGroups/gr/providers/A.B/c/d`, says: 'there is no resource group "gr" in this Azure' },
    { source: `${inGroup}/Microsoft.EventGrid/topics/ordres`, says: 'did you mean orders?' },
    { source: `${inGroup}/microsoft.eventgrid/domains/shop/topics/chairs`, says: 'there is no "' },
    { source: `${inGroup}/Microsoft.EventGrid/systemTopics/blobs`, says: 'there is no "' },
    { source: `${inGroup}/Microsoft.EventGrid/namespaces/shop`, says: 'there is no "' },
    { source: `${inGroup}/Microsoft.EventGrid/namespaces/depot/topics/retuns`, says: 'did you mean returns?' },
    { source: `${inGroup}/Microsoft.Storage/storageAccounts`, says: 'is no resource id' },
    { source: '/orders', says: 'is no resource id' },
    { source: '', says: 'is neither a resource id' },
  ])('refuses events of $source, where nothing can be subscribed: $says', async ({ source, says }) => {
    const emulator = await startEmulator({ namespaces: [{ name: 'depot', topics: [{ name: 'returns' }] }] })
    const raising = () => emulator.raise(source, [{ ...order, data: {} }])
    expect(raising).toThrow(RangeError)
    expect(raising).toThrow(says)
    expect(emulator.figures().published).toBe(0)
  })

  it.each([
    { source: 'returns', name: 'the name of a namespace topic' },
    { source: `${inGroup}/Microsoft.EventGrid/namespaces/depot/topics/returns/`, name: 'its resource id' },
  ])('publishes to a namespace topic, given $name', async ({ source }) => {
    const eventSubscriptions = [{ name: 'desk' }]
    const emulator = await startEmulator({
      namespaces: [{ name: 'depot', topics: [{ name: 'returns', eventSubscriptions }] }],
    })
    emulator.raise(source, [{ ...order, data: {} }])
    expect([...emulator.queues().values()]).toEqual([{ available: 1, locked: 0, delayed: 0 }])
    expect(emulator.events({ topic: 'depot/returns' }).events).toMatchObject([{ id: 'one' }])
    for (const [event, says] of [
      [order, "event 1: 'data' attribute is required"],
      ['text', 'must be an object'],
    ] as const) {
      expect(() => emulator.raise(source, [{ ...order, data: {} }, event])).toThrow(says)
      expect(() => emulator.raise(source, [event])).toThrow(TypeError)
    }
    expect(emulator.pending).toBe(1)
  })

  it.each(['/microsoft.storage/storageAccounts/files', '/Microsoft.EventGrid/partnerTopics/partner'])(
    'takes the resource %s of another provider as existing',
    async (below) => {
      const emulator = await startEmulator()
      emulator.raise(`${inGroup}${below}`.slice(1), [{ ...order, data: {} }])
      expect(emulator.figures().published).toBe(1)
    },
  )

  it('finds an event subscription by the name of its topic, as raise does, and says which topics there are', async () => {
    const emulator = await startEmulator({
      eventSubscriptions: [{ name: 'audit', endpoint: 'https://audit.example.com/' }],
      ingress: [{ from: 'https://audit.example.com/', to: 'http://127.0.0.1:1/' }],
    })
    const byId = emulator.eventSubscription(emulator.topic('orders').id, 'audit')
    expect(byId?.name).toBe('audit')
    expect(emulator.eventSubscription('orders', 'audit')).toBe(byId)
    expect(() => emulator.eventSubscription('ordres', 'audit')).toThrow('did you mean orders?')
  })

  it.each([
    { from: '"https://a.example/"', to: 'null', says: 'its to is not a URL', place: 'ingress[0].to must be a text' },
    {
      from: '"https://a.example/"',
      to: '"localhost:9000"',
      says: 'its to is not a URL',
      place: 'ingress[0].to must be a URL',
    },
    {
      from: '"a.example"',
      to: '"http://127.0.0.1:9000/"',
      says: 'its from is not a URL',
      place: 'ingress[0].from must be a URL',
    },
    {
      from: '7',
      to: '"http://127.0.0.1:9000/"',
      says: 'its from is not a URL',
      place: 'ingress[0].from must be a text',
    },
  ])('refuses an ingress from $from to $to: $says', async ({ from, to, says, place }) => {
    const emulator = await startEmulator()
    const rule = { from: untyped(from), to: untyped(to) }
    expect(() => emulator.useIngress(rule.from, rule.to)).toThrow(says)
    expect(() => emulator.setIngress([rule])).toThrow(says)
    await expect(startEmulator({ ingress: [rule] })).rejects.toThrow(place)
  })

  it.each(['{}', 'null', '"http://127.0.0.1:1/"'])('refuses the ingress %s', async (ingress) => {
    const emulator = await startEmulator()
    expect(() => emulator.setIngress(untyped(ingress))).toThrow('the ingress is a list of rules or a function')
  })

  it('refuses a single event where a list is due', async () => {
    const emulator = await startEmulator()
    expect(() => emulator.raise('orders', untyped('{}'))).toThrow('raise takes a list of events')
  })
})

it.each([
  { options: '{"topics": "orders"}', says: 'the options of connect: there is no "topics"; did you mean topic?' },
  { options: '{"topicEndpoint": "x"}', says: 'there is no "topicEndpoint"; there are topic, name, metadata' },
])('refuses to connect a binding with $options', async ({ options, says }) => {
  const emulator = await startEmulator()
  const connectable = { address: () => undefined, init: async () => {} }
  const connecting = emulator.connect(connectable, JSON.parse(options))
  await expect(connecting).rejects.toThrow(TypeError)
  await expect(connecting).rejects.toThrow(says)
})

it.each(['10s', '2s', 10n, null, [1], new Date()])('refuses the time %s in words: it is no number', async (time) => {
  const clock = new ManualClock()
  const emulator = await startEmulator({ clock })
  const calls = [
    () => Reflect.apply(clock.advance, clock, [time]),
    () => Reflect.apply(emulator.advance, emulator, [time]),
    () => Reflect.apply(emulator.settled, emulator, [{ timeout: time }]),
    async () => Reflect.construct(ManualClock, [time]),
  ]
  for (const call of calls) {
    const refused = (async () => await call())()
    await expect(refused).rejects.toThrow(TypeError)
    await expect(refused).rejects.toThrow('must be a number of milliseconds, such as 10_000, not ')
  }
  expect(clock.now()).toBeTypeOf('number')
})

it.each([-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])('refuses the time %j', async (time) => {
  const clock = new ManualClock(1_000)
  const emulator = await startEmulator({ clock })
  for (const refused of [clock.advance(time), emulator.advance(time), emulator.settled({ timeout: time })]) {
    await expect(refused).rejects.toThrow(RangeError)
    await expect(refused).rejects.toThrow(`must be a whole number of milliseconds, not ${time}`)
  }
  expect(clock.now()).toBe(1_000)
})
