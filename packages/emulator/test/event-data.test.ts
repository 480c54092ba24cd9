import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { startEmulator } from '../../../test/support/start-emulator.ts'
import { temporaryFolder } from '../../../test/support/temporary-folder.ts'
import { EventGridEmulator, type EventGridEmulatorOptions, ManualClock, realClock } from '../src/index.ts'
import { startSubscriber } from './subscriber.ts'

/** JSON that a parser and a writer do not give back as it was. */
const texts = [
  ...['9007199254740993', '1.10', '1E400', '-0', '1e2', '0.10E-7', '123456789012345678901234567890'],
  ...['{"10":1.0,"2":[1.50,{"a":-0.0}]}', '{ "a" : 1.10,\t"a":2.0 }', '"\\u00e9\\/"', '[ 1.0 , 2.00]'],
]

const cloud = (data: string) => `{"specversion":"1.0","id":"e1","source":"/s","type":"T","data":${data}}`
const grid = (data: string) =>
  `{"id":"e1","subject":"s","eventType":"T","eventTime":"2026-01-05T14:07:09Z","dataVersion":"1.0","data":${data}}`
const custom = (data: string) => `{"subject":"s","eventType":"T","amount":${data}}`
const structured = 'application/cloudevents+json'
const batched = 'application/cloudevents-batch+json'
const batch = { destination: { properties: { maxEventsPerBatch: 10 } } }
const isThere = {
  filter: { advancedFilters: [{ operatorType: 'IsNotNull', key: 'data' }], enableAdvancedFilteringOnArrays: true },
}

type Schema = 'CloudEventSchemaV1_0' | 'EventGridSchema' | 'CustomEventSchema'
interface Way {
  readonly name: string
  readonly inputSchema?: Schema
  readonly eventDeliverySchema?: string
  readonly type?: string
  readonly headers?: Record<string, string>
  /** @default a CloudEvent */
  readonly body?: (data: string) => string
  readonly properties?: Readonly<Record<string, unknown>>
  readonly member?: string
}

const ways: readonly Way[] = [
  { name: 'a CloudEvent' },
  { name: 'a batch of CloudEvents', type: batched, body: (data) => `[${cloud(data)},\n ${cloud(data)}]` },
  {
    name: 'a CloudEvent in binary mode',
    type: 'application/json',
    headers: { 'ce-specversion': '1.0', 'ce-id': 'e1', 'ce-source': '/s', 'ce-type': 'T' },
    body: (data) => data,
  },
  { name: 'a CloudEvent, through a filter on its data', properties: isThere },
  { name: 'CloudEvents, delivered in a batch', properties: batch },
  { name: 'an Event Grid event', inputSchema: 'EventGridSchema', body: (data) => `[${grid(data)}]` },
  {
    name: 'an Event Grid event, delivered as a CloudEvent',
    ...{ inputSchema: 'EventGridSchema', eventDeliverySchema: 'CloudEventSchemaV1_0' },
    body: (data) => `[${grid(data)}]`,
  },
  ...['EventGridSchema', 'CloudEventSchemaV1_0', 'CustomInputSchema'].map((eventDeliverySchema) => ({
    name: `an event of a custom schema, delivered by ${eventDeliverySchema}`,
    ...{ inputSchema: 'CustomEventSchema' as const, eventDeliverySchema, member: 'amount' },
    body: (data: string) => `[${custom(data)}]`,
  })),
]

/** An emulator with one topic, whose event subscription leads to a subscriber. */
async function openTopic(way: Way, more: EventGridEmulatorOptions = {}) {
  const { inputSchema = 'CloudEventSchemaV1_0', properties } = way
  const eventDeliverySchema =
    way.eventDeliverySchema ?? (inputSchema === 'EventGridSchema' ? inputSchema : 'CloudEventSchemaV1_0')
  const subscriber = await startSubscriber()
  const emulator = await startEmulator({
    clock: new ManualClock(),
    topics: [{ name: 'orders', inputSchema }],
    ingress: [{ from: 'https://subscriber.example/', to: `${subscriber.url}/` }],
    eventSubscriptions: [
      { name: 'app', endpoint: 'https://subscriber.example/', properties: { eventDeliverySchema, ...properties } },
    ],
    ...more,
  })
  await emulator.idle()
  return { emulator, subscriber }
}

async function publish(emulator: EventGridEmulator, { type, headers, body = cloud, inputSchema }: Way, data: string) {
  const { httpEndpoint, key } = emulator.topic()
  const contentType = type ?? (inputSchema === undefined ? structured : 'application/json')
  const answer = await fetch(httpEndpoint, {
    method: 'POST',
    headers: { 'aeg-sas-key': key, 'content-type': contentType, ...headers },
    body: body(data),
  })
  expect(answer.status).toBe(200)
}

describe.each(ways)('$name', (way) => {
  it('arrives with its data as it was published', async () => {
    const { emulator, subscriber } = await openTopic(way)
    for (const text of texts) await publish(emulator, way, text)
    await emulator.settled({ timeout: 30_000 })
    const bodies = subscriber.deliveries().map(({ body }) => body)
    for (const text of texts) {
      expect(bodies.filter((body) => body.includes(`"${way.member ?? 'data'}":${text}`))).not.toEqual([])
    }
  })
})

it('any JSON arrives as it was published', async () => {
  const { emulator, subscriber } = await openTopic({ name: '' })
  const number = fc.stringMatching(/^-?(0|[1-9]\d{0,20})(\.\d{1,20})?([eE][+-]?\d{1,3})?$/)
  const space = fc.stringMatching(/^[ \n\t]?$/)
  const pairs = fc.array(fc.tuple(space, number), { minLength: 1, maxLength: 4 })
  const json = pairs.map((list) => `{"a":[${list.map(([blank, text]) => blank + text).join(',')}]}`)
  await fc.assert(
    fc.asyncProperty(json, async (data) => {
      await publish(emulator, { name: '' }, data)
      await emulator.idle()
      expect(subscriber.deliveries().at(-1)?.body).toContain(`"data":${data}`)
    }),
    { numRuns: 50 },
  )
})

it('a filter on a number of the data still compares by value', async () => {
  const filter = { advancedFilters: [{ operatorType: 'NumberIn', key: 'data.n', values: [1.1] }] }
  const { emulator, subscriber } = await openTopic({ name: '', properties: { filter } })
  for (const text of ['{"n":1.10}', '{"n":1.100e0}', '{"n":1.2}']) await publish(emulator, { name: '' }, text)
  await emulator.idle()
  expect(subscriber.deliveries().map(({ body }) => /"data":(.*)}$/.exec(body)?.[1])).toEqual([
    '{"n":1.10}',
    '{"n":1.100e0}',
  ])
})

it('a delivery attribute and a mapped field have the digits of the event', async () => {
  const { subscriber, emulator } = await openTopic(
    { name: '', inputSchema: 'CustomEventSchema' },
    {
      topics: [
        {
          name: 'orders',
          inputSchema: 'CustomEventSchema',
          inputSchemaMapping: {
            inputSchemaMappingType: 'Json',
            properties: { subject: { sourceField: 'order.id' }, eventType: { defaultValue: 'T' } },
          },
        },
      ],
      eventSubscriptions: [
        {
          name: 'app',
          properties: {
            eventDeliverySchema: 'CloudEventSchemaV1_0',
            destination: {
              endpointType: 'WebHook',
              properties: {
                endpointUrl: 'https://subscriber.example/',
                deliveryAttributeMappings: [
                  { name: 'x-order', type: 'Dynamic', properties: { sourceField: 'data.order.id' } },
                ],
              },
            },
          },
        },
      ],
    },
  )
  const way = {
    name: '',
    inputSchema: 'CustomEventSchema' as const,
    body: (data: string) => `[{"order":{"id":${data}}}]`,
  }
  await publish(emulator, way, '9007199254740993')
  await emulator.idle()
  const [delivery] = subscriber.deliveries()
  expect(delivery?.headers['x-order']).toBe('9007199254740993')
  expect(JSON.parse(delivery?.body ?? '').subject).toBe('9007199254740993')
})

it.each([{ inputSchema: 'EventGridSchema' as const }, { inputSchema: 'CloudEventSchemaV1_0' as const }])(
  'a dead letter of $inputSchema has its data as it was published',
  async ({ inputSchema }) => {
    const written: string[] = []
    const resourceId = '/subscriptions/1/resourceGroups/rg/providers/Microsoft.Storage/storageAccounts/letters'
    const deadLetterDestination = {
      endpointType: 'StorageBlob',
      properties: { resourceId, blobContainerName: 'letters' },
    }
    const { emulator, subscriber } = await openTopic(
      { name: '', inputSchema, properties: { deadLetterDestination } },
      {
        clock: realClock,
        deadLetterDelay: 0,
        deadLetterStore: { write: async ({ content }) => void written.push(content) },
      },
    )
    subscriber.answer({ status: 400 })
    const isGrid = inputSchema === 'EventGridSchema'
    const body = (data: string) => (isGrid ? `[${grid(data)}]` : cloud(data))
    await publish(emulator, { name: '', body, ...(isGrid && { inputSchema }) }, '{"n":9007199254740993,"m":1E400}')
    await emulator.settled({ timeout: 30_000 })
    expect(written).toEqual([expect.stringContaining('"data":{"n":9007199254740993,"m":1E400}')])
  },
)

it('an event that a state file kept arrives as it was published', async () => {
  const folder = temporaryFolder()
  const subscriber = await startSubscriber()
  const options: EventGridEmulatorOptions = {
    state: join(folder, 'state'),
    clock: new ManualClock(),
    ingress: [{ from: 'https://subscriber.example/', to: `${subscriber.url}/` }],
    eventSubscriptions: [
      {
        name: 'app',
        endpoint: 'https://subscriber.example/',
        properties: { eventDeliverySchema: 'CloudEventSchemaV1_0' },
      },
    ],
  }
  const first = await EventGridEmulator.start(options)
  await first.idle()
  subscriber.answer({ status: 503 })
  await publish(first, { name: '' }, '[9007199254740993, 1.10]')
  await first.idle()
  await first.close()
  const clock = new ManualClock(Date.now() + 3_600_000)
  const second = await startEmulator({ ...options, clock })
  await second.settled({ timeout: 30_000 })
  expect(subscriber.deliveries().at(-1)?.body).toContain('"data":[9007199254740993, 1.10]')
})

describe('through a namespace', () => {
  const namespaces = [{ name: 'shop', topics: [{ name: 'orders', eventSubscriptions: [{ name: 'app' }] }] }]

  /** The text of the answer to a receive. */
  async function receive(emulator: EventGridEmulator): Promise<string> {
    const { key } = emulator.namespaceTopic()
    const base = `${emulator.proxy}/namespaces/shop/topics/orders/eventsubscriptions/app:receive`
    const answer = await fetch(`${base}?api-version=2024-06-01&maxWaitTime=10&maxEvents=100`, {
      method: 'POST',
      headers: { authorization: `SharedAccessKey ${key}` },
    })
    return answer.text()
  }

  it.each([
    { name: 'structured', type: structured, body: cloud },
    { name: 'in a batch', type: batched, body: (data: string) => `[ ${cloud(data)} ]` },
    {
      name: 'in binary mode',
      type: 'application/json',
      headers: { 'ce-specversion': '1.0', 'ce-id': 'e1', 'ce-source': '/s', 'ce-type': 'T' },
      body: (data: string) => data,
    },
  ])('$name, data is pulled as it was published', async ({ type, body, headers }) => {
    const emulator = await startEmulator({ namespaces })
    const { key } = emulator.namespaceTopic()
    for (const text of texts) {
      const answer = await fetch(`${emulator.proxy}/namespaces/shop/topics/orders:publish?api-version=2024-06-01`, {
        method: 'POST',
        headers: { authorization: `SharedAccessKey ${key}`, 'content-type': type, ...headers },
        body: body(text),
      })
      expect(answer.status).toBe(200)
    }
    const answer = await receive(emulator)
    for (const text of texts) expect(answer).toContain(`"data":${text}`)
  })

  it('data that an event subscription forwards is pulled as it was published', async () => {
    const emulator = await startEmulator({ namespaces })
    const resourceId = emulator.namespaceTopic().id
    emulator.reconfigure({
      namespaces,
      eventSubscriptions: [
        {
          name: 'forward',
          properties: {
            eventDeliverySchema: 'CloudEventSchemaV1_0',
            destination: { endpointType: 'NamespaceTopic', properties: { resourceId } },
          },
        },
      ],
    })
    await emulator.idle()
    for (const text of texts) await publish(emulator, { name: '' }, text)
    const answer = await receive(emulator)
    for (const text of texts) expect(answer).toContain(`"data":${text}`)
  })
})
