/** What a test does with the emulator alone, under vitest. The application is any webhook; here it is a few lines of HTTP. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { EventGridEmulator, ManualClock } from 'eventgrid-binding/emulator'
import { expect, it, onTestFinished } from 'vitest'

async function openWebhook(answer: () => number): Promise<string> {
  const webhook = createServer((request, response) => {
    request.resume()
    // The handshake asks for consent by OPTIONS.
    const consent = { 'webhook-allowed-origin': request.headers['webhook-request-origin'] ?? '*' }
    response.writeHead(request.method === 'OPTIONS' ? 200 : answer(), consent).end()
  })
  await new Promise<void>((resolve) => webhook.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void webhook.close())
  return `http://127.0.0.1:${(webhook.address() as AddressInfo).port}` // It listens on TCP, so it has such an address.
}

const order = { specversion: '1.0', id: 'one', source: '/shop', type: 'order.placed', data: { article: 'lamp' } }

it('delivers again after a failure, by the documented schedule', async () => {
  const endpoint = 'https://orders.example.com/api/events'
  const clock = new ManualClock()
  await using emulator = await EventGridEmulator.start({
    clock,
    ingress: [{ from: 'https://orders.example.com/', to: await openWebhook(() => 204) }],
    eventSubscriptions: [{ name: 'shop', endpoint }],
  })
  await emulator.idle() // The handshake is done.
  expect(emulator.records.handshakes.last).toMatchObject({ method: 'OPTIONS', outcome: 'validated' })

  emulator.failNext({ route: 'delivery', status: 503 }) // The next delivery ends as if the webhook had said so.
  emulator.raise(emulator.topic().id, [order])
  await emulator.idle() // The first try is over; the second waits for its time.
  expect(emulator.pending).toBe(1)

  await clock.advance(60_000) // Fires the timers on the way, and waits for what each began.
  expect(emulator.records.deliveries.all().map(({ status, outcome }) => [status, outcome])).toEqual([
    [503, 'retry'],
    [204, 'delivered'],
  ])
})

it('dead-letters what the webhook refuses', async () => {
  await using emulator = await EventGridEmulator.start({
    ingress: [{ from: 'https://orders.example.com/', to: await openWebhook(() => 400) }],
    deadLetterDelay: 0,
    eventSubscriptions: [
      {
        name: 'shop',
        endpoint: 'https://orders.example.com/api/events',
        properties: {
          deadLetterDestination: {
            endpointType: 'StorageBlob',
            properties: {
              resourceId: '/subscriptions/1/resourceGroups/shop/providers/Microsoft.Storage/storageAccounts/letters',
              blobContainerName: 'events',
            },
          },
        },
      },
    ],
  })
  await emulator.idle()
  emulator.raise(emulator.topic().id, [order])
  await emulator.settled() // No event is pending at all.
  const letter = emulator.records.deadLetters.last
  expect(letter?.blobPath).toMatch(/^events\/SHOP\//)
  expect(letter?.events).toMatchObject([{ id: 'one', lastdeliveryoutcome: 'BadRequest' }])
})
