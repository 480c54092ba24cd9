import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { storageAccountId } from '../../../test/support/azure-ids.ts'
import { startEmulator } from '../../../test/support/start-emulator.ts'
import { temporaryFolder } from '../../../test/support/temporary-folder.ts'
import type { EventGridEmulator } from '../src/index.ts'
import { type EventGrid, type EventGridOptions, openEventGrid, publish as post, publicUrl } from './event-grid.ts'

/** JSON that a parser and a writer do not give back as it was. */
const texts = [
  ...['9007199254740993', '1.10', '1E400', '-0', '1e2', '0.10E-7', '123456789012345678901234567890'],
  ...['{"10":1.0,"2":[1.50,{"a":-0.0}]}', '{ "a" : 1.10,\t"a":2.0 }', '"\\u00e9\\/"', '[ 1.0 , 2.00]'],
]

/** A namespace writes data anew; of two members of one name the last counts. */
const writtenAnew: Readonly<Record<string, string>> = {
  '{ "a" : 1.10,\t"a":2.0 }': '{"a":2.0}',
  '[ 1.0 , 2.00]': '[1.0,2.00]',
}

const cloud = (data: string) => `{"specversion":"1.0","id":"e1","source":"/s","type":"T","data":${data}}`
const grid = (data: string) =>
  `{"id":"e1","subject":"s","eventType":"T","eventTime":"2026-01-05T14:07:09Z","dataVersion":"1.0","data":${data}}`
const custom = (data: string) => `{"subject":"s","eventType":"T","amount":${data}}`
const structured = 'application/cloudevents+json'
const batched = 'application/cloudevents-batch+json'
const batch = { webhook: { maxEventsPerBatch: 10 } }
const isThere = {
  filter: { advancedFilters: [{ operatorType: 'IsNotNull', key: 'data' }], enableAdvancedFilteringOnArrays: true },
} as const

type Schema = 'CloudEventSchemaV1_0' | 'EventGridSchema' | 'CustomEventSchema'
interface Way {
  readonly name: string
  readonly inputSchema?: Schema
  readonly eventDeliverySchema?: 'EventGridSchema' | 'CloudEventSchemaV1_0' | 'CustomInputSchema'
  readonly type?: string
  readonly headers?: Record<string, string>
  /** @default a CloudEvent */
  readonly body?: (data: string) => string
  readonly properties?: Parameters<EventGrid['subscribe']>[0]
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
  ...(['EventGridSchema', 'CloudEventSchemaV1_0', 'CustomInputSchema'] as const).map((eventDeliverySchema) => ({
    name: `an event of a custom schema, delivered by ${eventDeliverySchema}`,
    ...{ inputSchema: 'CustomEventSchema' as const, eventDeliverySchema, member: 'amount' },
    body: (data: string) => `[${custom(data)}]`,
  })),
]

/** An Event Grid with an event subscription. */
async function openTopic(way: Way, options: EventGridOptions = {}): Promise<EventGrid> {
  const { inputSchema = 'CloudEventSchemaV1_0', properties } = way
  const byInput = inputSchema === 'EventGridSchema' ? inputSchema : 'CloudEventSchemaV1_0'
  const opened = await openEventGrid({ topic: { inputSchema }, ...options })
  await opened.subscribe({ eventDeliverySchema: way.eventDeliverySchema ?? byInput, ...properties })
  return opened
}

async function publish(to: EventGrid, { type, headers, body = cloud, inputSchema }: Way, data: string) {
  const contentType = type ?? (inputSchema === undefined ? structured : 'application/json')
  const answer = await post(to, body(data), { headers: { 'content-type': contentType, ...headers } })
  expect(answer.status).toBe(200)
}

describe.each(ways)('$name', (way) => {
  it('arrives with its data as it was published', async () => {
    const opened = await openTopic(way)
    for (const text of texts) await publish(opened, way, text)
    await opened.emulator.settled({ timeout: 30_000 })
    const bodies = opened.subscriber.deliveries().map(({ body }) => body)
    for (const text of texts) {
      expect(bodies.filter((body) => body.includes(`"${way.member ?? 'data'}":${text}`))).not.toEqual([])
    }
  })
})

it('any JSON arrives as it was published', async () => {
  const opened = await openTopic({ name: '' })
  const number = fc.stringMatching(/^-?(0|[1-9]\d{0,20})(\.\d{1,20})?([eE][+-]?\d{1,3})?$/)
  const space = fc.stringMatching(/^[ \n\t]?$/)
  const pairs = fc.array(fc.tuple(space, number), { minLength: 1, maxLength: 4 })
  const json = pairs.map((list) => `{"a":[${list.map(([blank, text]) => blank + text).join(',')}]}`)
  await fc.assert(
    fc.asyncProperty(json, async (data) => {
      await publish(opened, { name: '' }, data)
      await opened.emulator.idle()
      expect(opened.subscriber.deliveries().at(-1)?.body).toContain(`"data":${data}`)
    }),
    { numRuns: 50 },
  )
})

it('a filter on a number of the data still compares by value', async () => {
  const filter = { advancedFilters: [{ operatorType: 'NumberIn' as const, key: 'data.n', values: [1.1] }] }
  const opened = await openTopic({ name: '', properties: { filter } })
  for (const text of ['{"n":1.10}', '{"n":1.100e0}', '{"n":1.2}']) await publish(opened, { name: '' }, text)
  await opened.emulator.idle()
  expect(opened.subscriber.deliveries().map(({ body }) => /"data":(.*)}$/.exec(body)?.[1])).toEqual([
    '{"n":1.10}',
    '{"n":1.100e0}',
  ])
})

it('a delivery attribute and a mapped field have the digits of the event', async () => {
  const deliveryAttributeMappings = [{ name: 'x-order', type: 'Dynamic', properties: { sourceField: 'data.order.id' } }]
  const way: Way = {
    ...{ name: '', inputSchema: 'CustomEventSchema', properties: { webhook: { deliveryAttributeMappings } } },
    body: (data) => `[{"order":{"id":${data}}}]`,
  }
  const inputSchemaMapping = {
    inputSchemaMappingType: 'Json',
    properties: { subject: { sourceField: 'order.id' }, eventType: { defaultValue: 'T' } },
  } as const
  const opened = await openTopic(way, { topic: { inputSchema: 'CustomEventSchema', inputSchemaMapping } })
  await publish(opened, way, '9007199254740993')
  await opened.emulator.idle()
  const [delivery] = opened.subscriber.deliveries()
  expect(delivery?.headers['x-order']).toBe('9007199254740993')
  expect(JSON.parse(delivery?.body ?? '').subject).toBe('9007199254740993')
})

it.each<Way>([
  { name: 'EventGridSchema', inputSchema: 'EventGridSchema', body: (data) => `[${grid(data)}]` },
  { name: 'CloudEventSchemaV1_0' },
])('a dead letter of $name has its data as it was published', async (way) => {
  const written: string[] = []
  const deadLetterStore = { write: async ({ content }: { readonly content: string }) => void written.push(content) }
  const letters = { resourceId: storageAccountId, blobContainerName: 'letters' }
  const properties = { deadLetterDestination: { endpointType: 'StorageBlob' as const, properties: letters } }
  const opened = await openTopic({ ...way, properties }, { deadLetterDelay: 0, deadLetterStore })
  opened.subscriber.answer({ status: 400 })
  await publish(opened, way, '{"n":9007199254740993,"m":1E400}')
  const settled = opened.emulator.settled({ timeout: 30_000 })
  await opened.clock.advance(0)
  await settled
  expect(written).toEqual([expect.stringContaining('"data":{"n":9007199254740993,"m":1E400}')])
})

it('an event that a state file kept arrives as it was published', async () => {
  const properties = { eventDeliverySchema: 'CloudEventSchemaV1_0' }
  const eventSubscriptions = [{ name: 'app', endpoint: publicUrl, properties }]
  const options = { state: join(temporaryFolder(), 'state'), eventSubscriptions }
  const first = await openEventGrid(options)
  await first.emulator.idle()
  first.subscriber.answer({ status: 503 })
  await publish(first, { name: '' }, '[9007199254740993, 1.10]')
  await first.emulator.idle()
  await first.emulator.close()
  const second = await openEventGrid(options)
  await second.clock.advance(3_600_000)
  expect(second.subscriber.deliveries().at(-1)?.body).toContain('"data":[9007199254740993, 1.10]')
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
  ])('$name, data is pulled with its digits, without spaces', async ({ type, body, headers }) => {
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
    for (const text of texts) expect(answer).toContain(`"data":${writtenAnew[text] ?? text}`)
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
    const { httpEndpoint, key } = emulator.topic()
    const headers = { 'aeg-sas-key': key, 'content-type': structured }
    for (const text of texts) await fetch(httpEndpoint, { method: 'POST', headers, body: cloud(text) })
    const answer = await receive(emulator)
    for (const text of texts) expect(answer).toContain(`"data":${text}`)
  })
})
