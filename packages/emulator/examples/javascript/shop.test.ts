/** Tests of an application that publishes by Azure's SDK, and of its webhook: the emulator in the process of the test, nothing else. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { AzureKeyCredential, EventGridPublisherClient } from '@azure/eventgrid'
import { EventGridEmulator, type EventGridEmulatorOptions, ManualClock } from 'eventgrid-emulator'
import { expect, it, onTestFinished } from 'vitest'

/** The application under test. */
async function placeOrder(publisher: EventGridPublisherClient<'CloudEvent'>, order: string, amount: number) {
  await publisher.send([{ source: '/shop', type: 'order.placed', subject: `orders/${order}`, data: { amount } }])
}

/** Consents to the handshake, and gives these answers; 200 after them. */
async function openWebhook(...answers: number[]): Promise<string> {
  const webhook = createServer((request, response) => {
    request.resume()
    const consent = { 'webhook-allowed-origin': request.headers['webhook-request-origin'] ?? '*' }
    response.writeHead(request.method === 'OPTIONS' ? 200 : (answers.shift() ?? 200), consent).end()
  })
  await new Promise<void>((resolve) => webhook.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void webhook.close())
  return `http://127.0.0.1:${(webhook.address() as AddressInfo).port}/` // It listens on TCP, so it has such an address.
}

/** An emulator whose event subscription `billing` delivers to a webhook, and a publisher for its topic. */
async function open(to: string, properties = {}, options: EventGridEmulatorOptions = {}) {
  const endpoint = 'https://shop.example.com/events'
  const emulator = await EventGridEmulator.start({
    ingress: [{ from: 'https://shop.example.com/', to }],
    eventSubscriptions: [{ name: 'billing', topic: 'orders', endpoint, properties }],
    ...options,
  })
  onTestFinished(() => emulator.close())
  await emulator.idle() // The handshake.
  const topic = emulator.topic('orders')
  const tlsOptions = { ca: emulator.ca }
  const credential = new AzureKeyCredential(topic.key)
  return { emulator, publisher: new EventGridPublisherClient(topic.endpoint, 'CloudEvent', credential, { tlsOptions }) }
}

/** What became of an order at the event subscription: the state, and the status of each attempt. */
function fateOf(emulator: EventGridEmulator, order: string) {
  const [fate] = emulator.events({ subject: `orders/${order}` }).events.flatMap(({ subscriptions }) => subscriptions)
  return { state: fate?.state, statuses: fate?.attempts.map(({ status }) => status) }
}

it('publishes an order', async () => {
  const { emulator, publisher } = await open(await openWebhook())
  await placeOrder(publisher, 'one', 5)
  await emulator.settled()
  expect(emulator.events({ topic: 'orders' }).events).toMatchObject([
    { type: 'order.placed', event: { data: { amount: 5 } }, subscriptions: [{ state: 'delivered' }] },
  ])
})

it('gets a refused order again after 30 seconds', async () => {
  const { emulator, publisher } = await open(await openWebhook(503), {}, { clock: new ManualClock() })
  await placeOrder(publisher, 'one', 5)
  await emulator.advance(29_000)
  expect(fateOf(emulator, 'one')).toEqual({ state: 'pending', statuses: [503] })
  await emulator.advance(10_000)
  expect(fateOf(emulator, 'one')).toEqual({ state: 'delivered', statuses: [503, 200] })
})

it('has a dead letter for an order that nobody takes', async () => {
  const twice = { retryPolicy: { maxDeliveryAttempts: 2 } }
  const { emulator, publisher } = await open(await openWebhook(500, 500), twice, { clock: new ManualClock() })
  await placeOrder(publisher, 'one', 5)
  await emulator.advance(600_000)
  expect(emulator.deadLetters()).toMatchObject([{ subscription: 'billing', reason: 'MaxDeliveryAttemptsExceeded' }])
})

it('gets large orders only', async () => {
  const large = { operatorType: 'NumberGreaterThan', key: 'data.amount', value: 100 }
  const { emulator, publisher } = await open(await openWebhook(), { filter: { advancedFilters: [large] } })
  await placeOrder(publisher, 'small', 5)
  await placeOrder(publisher, 'large', 500)
  await emulator.settled()
  expect(fateOf(emulator, 'small').state).toBe('unmatched')
  expect(fateOf(emulator, 'large').state).toBe('delivered')
})

it('is published at the second try when the topic fails once', async () => {
  const { emulator, publisher } = await open(await openWebhook())
  emulator.failNext({ route: 'topic', status: 503, retryAfter: 0 })
  await placeOrder(publisher, 'one', 5)
  expect(emulator.requests({ route: 'topic' }).map(({ status }) => status)).toEqual([503, 200])
})
