/**
 * Takes the picture of the emulator's page for the documentation, with the dialog of an event that is tried again: two lively
 * minutes of a small shop, played on a clock moved by hand. `npm run docs:screenshot -- [FILE [light|dark [WIDTH]]]`.
 */
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { managementOf } from '../../../../test/support/azure-clients.ts'
import { EventGridEmulator, ManualClock } from '../../src/index.ts'
import { launchBrowser } from '../support/browser.ts'

const [file = 'packages/emulator/docs/emulator-page.png', scheme = 'light', width = '1280'] = process.argv.slice(2)

const clock = new ManualClock(Date.UTC(2026, 0, 5, 14, 5, 0))
await using emulator = await EventGridEmulator.start({
  clock,
  topics: [{ name: 'orders' }, { name: 'telemetry' }, { name: 'invoices', inputSchema: 'EventGridSchema' }],
  deadLetterDelay: 2_000,
  random: () => 0.5,
  probation: false,
})

/** Answers by path: how long it takes, and which events it doesn't like. */
const webhooks = createServer(async (request, response) => {
  const body = await text(request)
  const origin = request.headers['webhook-request-origin']
  if (origin && request.url !== '/mail') response.setHeader('webhook-allowed-origin', origin)
  const count = Number(request.headers['aeg-delivery-count'] ?? 0)
  const load = 1 + Math.sin(clock.now() / 9000)
  await pause({ '/billing': 25 + 20 * load, '/fulfilment': 12 + 10 * load, '/charts': 6 }[request.url ?? ''] ?? 2)
  const busy = request.url === '/billing' && /"subject":"paid\/\d*[37]"/.test(body) && count < 2
  const wrong = request.url === '/fulfilment' && body.includes('"country":"XX"')
  response.writeHead(busy ? 503 : wrong ? 400 : 200).end()
})
await new Promise<void>((listening) => webhooks.listen(0, '127.0.0.1', listening))
const address = webhooks.address()
const port = typeof address === 'object' && address ? address.port : 0
emulator.setIngress((url) => `http://127.0.0.1:${port}${url.pathname}`)

const { eventSubscriptions } = managementOf(emulator)
const deadLetterDestination = {
  endpointType: 'StorageBlob' as const,
  resourceId: `/subscriptions/${emulator.subscriptionId}/resourceGroups/rg/providers/Microsoft.Storage/storageAccounts/shop`,
  blobContainerName: 'letters',
}
const subscribe = (topic: string, name: string, includedEventTypes?: string[]) =>
  eventSubscriptions.beginCreateOrUpdate(emulator.topic(topic).id.slice(1), name, {
    destination: {
      endpointType: 'WebHook',
      endpointUrl: `https://shop.example.com/${name}`,
      deliveryAttributeMappings: [
        { name: 'x-shop-token', type: 'Static', value: 'a secret of the shop', isSecret: true },
      ],
    },
    eventDeliverySchema: 'CloudEventSchemaV1_0',
    deadLetterDestination,
    ...(includedEventTypes && { filter: { includedEventTypes } }),
  })
await subscribe('orders', 'fulfilment', ['Shop.OrderPlaced', 'Shop.OrderPaid'])
await subscribe('orders', 'billing', ['Shop.OrderPaid'])
await subscribe('telemetry', 'charts')
await subscribe('orders', 'mail')
await emulator.idle()

async function publish(topic: string, events: readonly object[]): Promise<void> {
  if (events.length === 0) return
  const { httpEndpoint, key } = emulator.topic(topic)
  const headers = { 'aeg-sas-key': key, 'content-type': 'application/cloudevents-batch+json' }
  await fetch(httpEndpoint, { method: 'POST', headers, body: JSON.stringify(events) })
}

let order = 4700
const orderEvent = (type: string, subject: string, data: object) => ({
  specversion: '1.0',
  id: `${type}-${++order}`,
  source: '/shop/web',
  type: `Shop.Order${type}`,
  subject,
  data,
})

const browser = await launchBrowser()
const page = await browser.newPage({
  viewport: { width: Number(width), height: 800 },
  colorScheme: scheme === 'dark' ? 'dark' : 'light',
  reducedMotion: 'reduce',
  timezoneId: 'UTC',
})
await page.goto(emulator.proxy)

for (let second = 0; second < 121; second++) {
  const wave = Math.round(5 + 4 * Math.sin(second / 11) + 2 * Math.sin(second / 3.1))
  const readings = Array.from({ length: Math.max(wave, 1) }, (_, index) => ({
    specversion: '1.0',
    id: `reading-${second}-${index}`,
    source: '/greenhouse',
    type: 'Greenhouse.Reading',
    subject: `sensors/${index + 1}`,
    data: { celsius: 20 + index / 10 },
  }))
  await publish('telemetry', second > 105 ? readings.slice(0, second % 2) : readings)
  const country = second % 19 === 2 || second === 115 ? 'XX' : 'NL'
  const placed = orderEvent('Placed', `placed/${order}`, { amount: 129.5, country })
  const paid = orderEvent('Paid', `paid/${order}`, { amount: 129.5 })
  await publish('orders', second % 3 === 1 ? [placed, paid] : [paid])
  if (second % 23 === 3) await publish('orders', [orderEvent('Returned', `returned/${order}`, {})])
  await clock.advance(1000)
}
await emulator.idle()
const shown = page.locator('[data-total="published"]')
await page.waitForFunction((text) => text !== '0', await shown.textContent())
// Long enough for the stream's next figures; a picture needs no more.
await pause(1500)
await page.locator('#filter-answer').selectOption('503')
await page.locator('#events tr:visible').first().click()
await page.locator('#detail summary').first().waitFor()
await page.screenshot({ path: file })
await browser.close()
webhooks.closeAllConnections()
webhooks.close()
