/** Tests of a webhook and of an application that publishes to it, under jest: the emulator in the process of the test, nothing else. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import { afterEach, expect, test } from '@jest/globals'
import { EventGridEmulator, ManualClock } from 'eventgrid-emulator'

const opened = []
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close()
})

/** An emulator whose events of `orders` go to a webhook, which consents to the handshake and gives these answers; 200 after them. */
async function open(answers = [], options = {}) {
  const delivered = []
  const webhook = createServer(async (request, response) => {
    const body = (await request.toArray()).join('')
    if (request.method === 'POST') delivered.push(JSON.parse(body).subject)
    const status = request.method === 'OPTIONS' ? 200 : (answers.shift() ?? 200)
    response.writeHead(status, { 'webhook-allowed-origin': '*' }).end()
  })
  await once(webhook.listen(0, '127.0.0.1'), 'listening')
  opened.push(() => webhook.close())
  const deliver = { orders: `http://127.0.0.1:${webhook.address().port}/hook` }
  const emulator = await EventGridEmulator.start({ deliver, ...options })
  opened.push(() => emulator.close())
  await emulator.idle() // The handshake.
  return { emulator, delivered }
}

/** The application under test. */
async function placeOrder(emulator, order, amount) {
  const { httpEndpoint, key } = emulator.topic('orders')
  const event = {
    specversion: '1.0',
    id: order,
    source: '/shop',
    type: 'order.placed',
    subject: order,
    data: { amount },
  }
  const headers = { 'aeg-sas-key': key, 'content-type': 'application/cloudevents+json' }
  const { status } = await fetch(httpEndpoint, { method: 'POST', headers, body: JSON.stringify(event) })
  expect(status).toBe(200)
}

test('delivers an order', async () => {
  const { emulator, delivered } = await open()
  await placeOrder(emulator, 'one', 5)
  await emulator.settled({ timeout: 10_000 })
  expect(delivered).toEqual(['one'])
})

test('delivers a refused order again after 30 seconds', async () => {
  const { emulator, delivered } = await open([503], { clock: new ManualClock() })
  await placeOrder(emulator, 'one', 5)
  await emulator.advance(60_000)
  expect(delivered).toEqual(['one', 'one'])
})

test('says why an event subscription does not get an order', async () => {
  const { emulator } = await open()
  const large = { operatorType: 'NumberGreaterThan', key: 'data.amount', value: 100 }
  await emulator.addEventSubscription({
    name: 'large',
    endpoint: emulator.eventSubscriptions()[0].properties.destination.properties.endpointUrl,
    properties: { filter: { advancedFilters: [large] } },
  })
  await placeOrder(emulator, 'small', 5)
  await emulator.settled({ timeout: 10_000 })
  const [{ subscriptions }] = emulator.events().events
  expect(subscriptions.find(({ name }) => name === 'large')).toMatchObject({
    state: 'unmatched',
    reason: 'data.amount of the event is 5: NumberGreaterThan does not match',
  })
})
