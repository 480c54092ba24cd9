/** Service Bus and Event Hubs as destinations, on a broker of rhea and with the receivers of Azure's own SDKs. */
import { join } from 'node:path'
import { EventHubConsumerClient, earliestEventPosition, type ReceivedEventData } from '@azure/event-hubs'
import { ServiceBusClient, type ServiceBusReceivedMessage } from '@azure/service-bus'
import { describe, expect, it, onTestFinished } from 'vitest'
import { managementOf } from '../../../../test/support/azure-clients.ts'
import { startEmulator } from '../../../../test/support/start-emulator.ts'
import { temporaryFolder } from '../../../../test/support/temporary-folder.ts'
import { type EventGridEmulatorOptions, ManualClock } from '../../src/index.ts'
import { openBroker, type Refusal } from '../support/amqp-broker.ts'

const minute = 60_000
const bus = '/subscriptions/1/resourceGroups/rg/providers/Microsoft.ServiceBus/namespaces/shop'
const hubs = '/subscriptions/1/resourceGroups/rg/providers/Microsoft.EventHub/namespaces/shop'
const storageAccount = '/subscriptions/1/resourceGroups/rg/providers/Microsoft.Storage/storageAccounts/shop'
const cloudEvent = {
  specversion: '1.0',
  id: 'e1',
  source: '/shop',
  type: 'Order.Placed',
  data: { name: 'café', paid: true },
}
const event = {
  ...{ id: 'e1', subject: 'orders/1', eventType: 'Order.Placed', eventTime: '2026-01-01T00:00:00Z', dataVersion: '2' },
  data: { name: 'café' },
}
const guid = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/

const kinds = {
  queue: { endpointType: 'ServiceBusQueue', resourceId: `${bus}/queues/orders` },
  topic: { endpointType: 'ServiceBusTopic', resourceId: `${bus}/topics/orders` },
  hub: { endpointType: 'EventHub', resourceId: `${hubs}/eventhubs/orders` },
} as const

type Kind = keyof typeof kinds

type Schema = 'CloudEventSchemaV1_0' | 'EventGridSchema'

interface Settings {
  /** Of the event subscription. */
  readonly properties?: { readonly eventDeliverySchema?: Schema; readonly retryPolicy?: object }
  /** Of the destination. */
  readonly destination?: object
  readonly options?: EventGridEmulatorOptions
}

/** A broker that has `orders`; the test's end stops it. */
async function startBroker() {
  const broker = await openBroker('orders')
  onTestFinished(() => broker.cut())
  return broker
}

/** A broker, and an emulator with an event subscription that delivers to it. */
async function open(kind: Kind, { properties = {}, destination = {}, options = {} }: Settings = {}) {
  const broker = await startBroker()
  const { connectionString } = broker
  const { endpointType, resourceId } = kinds[kind]
  const clock = new ManualClock()
  const { eventDeliverySchema = 'CloudEventSchemaV1_0' } = properties
  const started: EventGridEmulatorOptions = {
    topics: [{ name: 'orders', inputSchema: eventDeliverySchema }],
    ...{ clock, serviceBus: [{ connectionString }], eventHubs: [{ connectionString }] },
    eventSubscriptions: [
      {
        name: 'audit',
        topic: 'orders',
        properties: {
          ...{ ...properties, eventDeliverySchema },
          destination: { endpointType, properties: { resourceId, ...destination } },
        },
      },
    ],
    ...options,
  }
  const emulator = await startEmulator(started)
  await emulator.idle()
  return {
    broker,
    clock,
    started,
    emulator,
    publish: (...events: readonly object[]) => emulator.raise('orders', events),
  }
}

/** What a program gets of a queue, or of a subscription of a topic. */
async function received(connectionString: string, count: number, topic = false): Promise<ServiceBusReceivedMessage[]> {
  const client = new ServiceBusClient(connectionString)
  onTestFinished(() => client.close())
  const receiveMode = 'receiveAndDelete'
  const receiver = topic
    ? client.createReceiver('orders', 'all', { receiveMode })
    : client.createReceiver('orders', { receiveMode })
  return receiver.receiveMessages(count)
}

/** What a program gets of a hub, as soon as there is something. */
async function consumed(connectionString: string): Promise<readonly ReceivedEventData[]> {
  const client = new EventHubConsumerClient('$Default', connectionString, 'orders')
  onTestFinished(() => client.close())
  return new Promise((resolve, reject) => {
    client.subscribe(
      '0',
      {
        processEvents: async (events) => void (events.length > 0 && resolve(events)),
        processError: async (error) => reject(error),
      },
      { startPosition: earliestEventPosition },
    )
  })
}

const refusal = (condition: string, description = 'as the test says'): Refusal => ({ condition, description })

/** Settings of an event subscription with one attempt. */
const oneAttempt = {
  properties: {
    retryPolicy: { maxDeliveryAttempts: 1 },
    deadLetterDestination: {
      endpointType: 'StorageBlob',
      properties: { resourceId: storageAccount, blobContainerName: 'dead' },
    },
  },
}

describe('Service Bus', () => {
  it.each(['queue', 'topic'] as const)('has each event as a message of its own in a %s', async (kind) => {
    const { broker, emulator, publish } = await open(kind)
    publish(cloudEvent, { ...cloudEvent, id: 'e2' })
    await emulator.settled()
    expect(broker.connections.size).toBe(1)
    const messages = await received(broker.connectionString, 2, kind === 'topic')
    expect(messages.map(({ body }) => body)).toEqual([cloudEvent, { ...cloudEvent, id: 'e2' }])
    const [message] = messages
    expect(message).toMatchObject({
      contentType: 'application/cloudevents+json; charset=utf-8',
      messageId: expect.stringMatching(guid),
      applicationProperties: {
        'aeg-event-type': 'Notification',
        'aeg-subscription-name': 'AUDIT',
        'aeg-delivery-count': '0',
        'aeg-data-version': '',
        'aeg-metadata-version': '1',
        'aeg-output-event-id': message?.messageId,
      },
    })
    expect(messages[1]?.messageId).not.toBe(message?.messageId)
    expect(emulator.records.deliveries.all()).toMatchObject([
      { url: kinds[kind].resourceId, outcome: 'delivered', body: JSON.stringify(cloudEvent), eventIds: ['e1'] },
      { outcome: 'delivered', eventIds: ['e2'], headers: { 'aeg-delivery-count': '0' } },
    ])
  })

  it('has an event of the Event Grid schema as an object', async () => {
    const { broker, emulator, publish } = await open('queue', {
      properties: { eventDeliverySchema: 'EventGridSchema' },
    })
    const topic = emulator.topic().id
    publish({ ...event, topic, metadataVersion: '1' })
    await emulator.settled()
    const [message] = await received(broker.connectionString, 1)
    expect(message?.body).toEqual({ ...event, topic, metadataVersion: '1' })
    expect(message?.contentType).toBe('application/json; charset=utf-8')
    expect(message?.applicationProperties).toMatchObject({ 'aeg-data-version': '2' })
  })

  it('takes delivery attributes as properties of the message, and others as its own', async () => {
    const fixed = (name: string, value: string) => ({ name, type: 'Static', properties: { value } })
    const read = (name: string, sourceField: string) => ({ name, type: 'Dynamic', properties: { sourceField } })
    const deliveryAttributeMappings = [
      ...[read('MessageId', 'id'), fixed('SessionId', 's1'), fixed('PartitionKey', 's1'), read('label', 'type')],
      ...[
        fixed('CorrelationId', 'c1'),
        fixed('ReplyTo', 'back'),
        fixed('ReplyToSessionId', 's2'),
        fixed('To', 'there'),
      ],
      ...[
        read('paid', 'data.paid'),
        { ...fixed('password', 'hidden'), properties: { value: 'hidden', isSecret: true } },
      ],
    ]
    const { broker, emulator, publish } = await open('queue', { destination: { deliveryAttributeMappings } })
    publish(cloudEvent)
    await emulator.settled()
    const [message] = await received(broker.connectionString, 1)
    expect(message).toMatchObject({
      ...{ messageId: 'e1', sessionId: 's1', partitionKey: 's1', subject: 'Order.Placed', correlationId: 'c1' },
      ...{ replyTo: 'back', replyToSessionId: 's2', to: 'there' },
      applicationProperties: { paid: 'true', password: 'hidden', 'aeg-subscription-name': 'AUDIT' },
    })
    expect(Object.keys(message?.applicationProperties ?? {})).not.toContain('SessionId')
    expect(emulator.records.deliveries.last?.headers).toMatchObject({ SessionId: 's1', password: '(redacted)' })
  })
})

describe('Event Hubs', () => {
  it.each<{ readonly schema: Schema; readonly contentType: string }>([
    { schema: 'CloudEventSchemaV1_0', contentType: 'application/cloudevents-batch+json; charset=utf-8' },
    { schema: 'EventGridSchema', contentType: 'application/json; charset=utf-8' },
  ])('has each event of $schema as an array of one', async ({ schema, contentType }) => {
    const { broker, emulator, publish } = await open('hub', { properties: { eventDeliverySchema: schema } })
    const published =
      schema === 'EventGridSchema' ? { ...event, topic: emulator.topic().id, metadataVersion: '1' } : cloudEvent
    publish(published)
    await emulator.settled()
    const [got] = await consumed(broker.connectionString)
    expect(got).toMatchObject({
      ...{ body: [published], contentType },
      properties: { 'aeg-event-type': 'Notification', 'aeg-output-event-id': expect.stringMatching(guid) },
    })
    expect(got?.partitionKey ?? undefined).toBeUndefined()
  })

  it('takes the attribute PartitionKey as the key of the partition, and others as properties', async () => {
    const deliveryAttributeMappings = [
      { name: 'PartitionKey', type: 'Dynamic', properties: { sourceField: 'data.name' } },
      { name: 'SessionId', type: 'Static', properties: { value: 's1' } },
    ]
    const { broker, emulator, publish } = await open('hub', { destination: { deliveryAttributeMappings } })
    publish(cloudEvent)
    await emulator.settled()
    const [got] = await consumed(broker.connectionString)
    expect(got).toMatchObject({ partitionKey: 'café', properties: { SessionId: 's1' } })
  })
})

describe.each(['queue', 'hub'] as const)('a broker that does not take an event for a %s', (kind) => {
  it.each<{ readonly refusal: Refusal; readonly outcome: string; readonly after: number }>([
    { refusal: refusal('com.microsoft:server-busy'), outcome: 'Busy', after: 0.5 },
    { refusal: refusal('com.microsoft:entity-disabled'), outcome: 'Disabled', after: 10 / 60 },
    { refusal: refusal('amqp:resource-limit-exceeded'), outcome: 'Full', after: 10 / 60 },
    { refusal: refusal('amqp:unauthorized-access'), outcome: 'Unauthorized', after: 5 },
    { refusal: refusal('amqp:not-found'), outcome: 'NotFound', after: 5 },
    { refusal: refusal('amqp:internal-error'), outcome: 'Busy', after: 0.5 },
  ])('is asked again after $outcome', async ({ refusal, outcome, after }) => {
    const { broker, clock, emulator, publish } = await open(kind)
    broker.answer = () => refusal
    publish(cloudEvent)
    await emulator.idle()
    const [first] = emulator.records.deliveries.all()
    expect(first).toMatchObject({ outcome: 'retry', error: expect.stringContaining(outcome) })
    expect(first?.nextTryAt).toBe((first?.at ?? 0) + after * minute)
    broker.answer = () => undefined
    await clock.advance(after * minute)
    await emulator.settled()
    expect(emulator.records.deliveries.last).toMatchObject({ outcome: 'delivered', deliveryCount: 1 })
    const [again, once] = emulator.records.deliveries.all().toReversed()
    expect(again?.headers['aeg-output-event-id']).toBe(once?.headers['aeg-output-event-id'])
  })

  it.each([
    { refusal: refusal('amqp:link:message-size-exceeded'), outcome: 'PayloadTooLarge' },
    { refusal: refusal('com.microsoft:argument-error'), outcome: 'BadRequest' },
  ])('has it dead-lettered at once for $outcome', async ({ refusal, outcome }) => {
    const { broker, clock, emulator, publish } = await open(kind, {
      properties: { ...oneAttempt.properties, retryPolicy: {} },
    })
    broker.answer = () => refusal
    publish(cloudEvent)
    await emulator.idle()
    await clock.advance(5 * minute)
    expect(emulator.records.deadLetters.last).toMatchObject({
      events: [{ id: 'e1', deadletterreason: 'UndeliverableDueToClientError', lastdeliveryoutcome: outcome }],
    })
  })
})

describe.each(['queue', 'hub'] as const)('a %s', (kind) => {
  it('that does not exist has its event dead-lettered after the last attempt', async () => {
    const resourceId = `${kind === 'hub' ? `${hubs}/eventhubs` : `${bus}/queues`}/later`
    const { broker, clock, emulator, publish } = await open(kind, { ...oneAttempt, destination: { resourceId } })
    publish(cloudEvent)
    await emulator.idle()
    await clock.advance(5 * minute)
    expect(emulator.records.deliveries.last).toMatchObject({
      outcome: 'dead-lettered',
      target: expect.stringMatching(/^sb:\/\/127\.0\.0\.1:\d+\/later$/),
      error: expect.stringMatching(/^NotFound: .*could not be found/),
    })
    expect(emulator.records.deadLetters.last).toMatchObject({
      events: [{ deadletterreason: 'MaxDeliveryAttemptsExceeded', lastdeliveryoutcome: 'NotFound' }],
    })
    expect(broker.audiences).toEqual([expect.stringMatching(/\/later$/)])
  })

  it('whose broker refuses the key is asked again after five minutes', async () => {
    const { broker, emulator, publish } = await open(kind)
    broker.tokenStatus = 401
    publish(cloudEvent)
    await emulator.idle()
    const { last } = emulator.records.deliveries
    expect(last).toMatchObject({ outcome: 'retry', error: expect.stringMatching(/^Unauthorized: /) })
    expect(last?.nextTryAt).toBe((last?.at ?? 0) + 5 * minute)
    expect(JSON.stringify(emulator.records)).not.toContain('c2VjcmV0LWtleQ')
  })

  it('whose broker is gone is tried again, and reached when it is back, by one connection for all events', async () => {
    const { broker, clock, emulator, publish } = await open(kind, { options: { answerTimeout: 1_000 } })
    publish(cloudEvent)
    await emulator.settled()
    await broker.cut()
    publish(...Array.from({ length: 100 }, (_, at) => ({ ...cloudEvent, id: `e${at}` })))
    await emulator.idle()
    expect(emulator.records.deliveries.last).toMatchObject({
      outcome: 'retry',
      error: expect.stringMatching(/^(SocketError|TimedOut): /),
    })
    expect(emulator.pending).toBe(100)
    await broker.listen()
    await clock.advance(10 * minute)
    await emulator.settled()
    expect(emulator.figures().delivered).toBe(101)
    expect(broker.connections.size).toBe(1)
  })

  it('whose broker does not answer is given the time of a web hook', async () => {
    const { broker, emulator, publish } = await open(kind, { options: { answerTimeout: 1_000 } })
    broker.answer = () => 'silence'
    publish(cloudEvent)
    await emulator.idle()
    expect(emulator.records.deliveries.last).toMatchObject({
      outcome: 'retry',
      error: expect.stringMatching(/^TimedOut: /),
    })
  })

  it('has its connection closed with its event subscription, and with the emulator', async () => {
    const { broker, emulator, publish } = await open(kind)
    const closed = async () => {
      const [connection] = broker.connections
      if (connection) await new Promise((resolve) => connection.once('connection_close', resolve))
    }
    publish(cloudEvent)
    await emulator.settled()
    expect(broker.connections.size).toBe(1)
    await Promise.all([
      closed(),
      managementOf(emulator).eventSubscriptions.beginDeleteAndWait(emulator.topic().id.slice(1), 'audit'),
    ])
    const more = await open(kind)
    more.publish(cloudEvent)
    await more.emulator.settled()
    await more.emulator.close()
    await expect.poll(() => more.broker.connections.size).toBe(0)
  })

  it('without a connection string is accepted, with a warning', async () => {
    const { emulator } = await open(kind, {
      options: {
        serviceBus: [],
        eventHubs: [
          { resourceId: `${hubs}2`, connectionString: 'Endpoint=sb://a;SharedAccessKeyName=b;SharedAccessKey=c' },
        ],
      },
    })
    const name = kind === 'hub' ? 'eventHubs' : 'serviceBus'
    expect(emulator.records.warnings.all()).toMatchObject([
      { subscriptionName: 'audit', message: expect.stringContaining(`namespace shop: give one in ${name}`) },
    ])
  })
})

it('the first entry that fits a namespace is taken', async () => {
  const own = await startBroker()
  const other = 'Endpoint=sb://127.0.0.1:1;SharedAccessKeyName=a;SharedAccessKey=b'
  const { emulator, publish } = await open('queue', {
    options: {
      serviceBus: [
        { resourceId: `${bus}2`, connectionString: other },
        {
          resourceId: bus.toUpperCase().replace('/SUBSCRIPTIONS', '/subscriptions'),
          connectionString: own.connectionString,
        },
        { connectionString: other },
      ],
    },
  })
  publish(cloudEvent)
  await emulator.settled()
  expect(await received(own.connectionString, 1)).toMatchObject([{ body: cloudEvent }])
})

it.each([
  { what: 'no endpoint', connectionString: 'SharedAccessKeyName=a;SharedAccessKey=hidden' },
  {
    what: 'an endpoint that is no URL',
    connectionString: 'Endpoint=sb://[hidden;SharedAccessKeyName=a;SharedAccessKey=b',
  },
  { what: 'no key', connectionString: 'Endpoint=sb://127.0.0.1;SharedAccessKeyName=hidden' },
  {
    what: 'an endpoint of another kind',
    connectionString: 'Endpoint=https://hidden;SharedAccessKeyName=a;SharedAccessKey=b',
  },
])('a connection string with $what is refused, and not shown', async ({ connectionString }) => {
  const given = startEmulator({ eventHubs: [{ connectionString }] })
  await expect(given).rejects.toThrow(/^eventHubs\[0\]\.connectionString must be a connection string: Endpoint=sb:/)
  await expect(given).rejects.not.toThrow(/hidden/)
})

it.each(['queue', 'hub'] as const)('an emulator ends while a broker owes the answer for a %s', async (kind) => {
  const { broker, emulator, publish } = await open(kind)
  const asked = new Promise((resolve) => {
    broker.answer = (node) => {
      resolve(node)
      return 'silence'
    }
  })
  publish(cloudEvent)
  await asked
  await emulator.close()
  await expect.poll(() => broker.connections.size).toBe(0)
})

it('attributes and namespaces may have any name that Resource Manager takes', async () => {
  const resourceId = `${bus}<1>/queues/orders`
  const deliveryAttributeMappings = ['constructor', '__proto__'].map((name) => ({
    ...{ name, type: 'Static', properties: { value: 'a' } },
  }))
  const { broker, emulator, publish } = await open('queue', { destination: { resourceId, deliveryAttributeMappings } })
  publish(cloudEvent)
  await emulator.settled()
  const [message] = await received(broker.connectionString, 1)
  expect(Object.entries(message?.applicationProperties ?? {})).toContainEqual(['constructor', 'a'])
})

it('a message has the same id after a restart of the emulator', async () => {
  const state = join(temporaryFolder(), 'state.db')
  const { broker, clock, started, emulator, publish } = await open('queue', { options: { state } })
  broker.answer = () => refusal('com.microsoft:server-busy')
  publish(cloudEvent)
  await emulator.idle()
  const id = emulator.records.deliveries.last?.headers['aeg-output-event-id']
  await emulator.close()
  broker.answer = () => undefined
  await clock.advance(minute)
  const again = await startEmulator(started)
  await again.settled()
  expect(await received(broker.connectionString, 1)).toMatchObject([{ messageId: id, body: cloudEvent }])
})

it('a queue with sessions that gets an event without one says so', async () => {
  const { broker, emulator, publish } = await open('queue')
  broker.answer = () =>
    refusal('amqp:not-allowed', 'The SessionId was not set on a message, and it cannot be sent to the entity.')
  publish(cloudEvent)
  await emulator.idle()
  expect(emulator.records.deliveries.last).toMatchObject({
    outcome: 'retry',
    error: expect.stringMatching(/^SessionQueueNotSupported: /),
  })
})

it('a broker without TLS says what its connection string misses', async () => {
  const { connectionString } = await startBroker()
  const { emulator, publish } = await open('queue', {
    options: {
      serviceBus: [
        {
          connectionString: connectionString
            .replace('UseDevelopmentEmulator=true;', '')
            .replace('127.0.0.1', 'localhost'),
        },
      ],
    },
  })
  publish(cloudEvent)
  await emulator.idle()
  expect(emulator.records.deliveries.last?.error).toMatch(/^SocketError: .*UseDevelopmentEmulator=true/)
})
