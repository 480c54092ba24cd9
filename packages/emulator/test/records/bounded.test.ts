import { describe, expect, it } from 'vitest'
import { startEmulate } from '../cli/emulate-command.ts'
import { startSubscriber } from '../subscriber.ts'
import { openInterface, orders } from '../test-interface/open-interface.ts'

const hook = { ingress: (url: string) => [{ from: 'https://shop.example.com/', to: `${url}/` }] }

describe('what the emulator records', () => {
  it('holds no more bytes than maxRecordBytes, counts what is left out, and is answered whole', async () => {
    const subscriber = await startSubscriber()
    const { emulator, call } = await openInterface({
      maxRecordBytes: 2_000_000,
      ingress: hook.ingress(subscriber.url),
      eventSubscriptions: [
        {
          name: 'billing',
          topic: 'orders',
          endpoint: 'https://shop.example.com/',
          properties: { eventDeliverySchema: 'CloudEventSchemaV1_0' },
        },
      ],
    })
    await emulator.idle()
    subscriber.answerTo('/', { status: 400 })
    const data = { text: 'x'.repeat(100_000) }
    for (const id of Array.from({ length: 60 }, (_, index) => String(index))) {
      emulator.raise('orders', [{ ...orders(id)[0], data }])
      await emulator.settled()
    }
    const { body: letters } = await call('GET', '/emulator/dead-letters')
    const { body: events } = await call('GET', '/emulator/events')
    expect(JSON.stringify(letters).length + JSON.stringify(events).length).toBeLessThan(2_000_000)
    expect(letters.deadLetters.length).toBeGreaterThan(5)
    expect(letters.deadLetters.at(-1).event.id).toBe('59')
    expect(emulator.records.deadLetters.dropped).toBe(60 - letters.deadLetters.length)
    expect(events.leftOut).toBe(60 - events.events.length)
    expect(emulator.figures()).toMatchObject({ published: 60, dropped: 60 })
  })

  it('lets the process live with 112 MB, however many events are pending: more are answered 429', async () => {
    const subscriber = await startSubscriber()
    const deliver = ['--deliver', `orders=${subscriber.url}/hook`, '--quiet']
    const emulate = await startEmulate(deliver, { NODE_OPTIONS: '--max-old-space-size=112' })
    subscriber.answerTo('/hook', { status: 503 })
    const { httpEndpoint, key } = await emulate.topic('orders')
    const data = { text: 'x'.repeat(200) }
    const events = Array.from({ length: 2_000 }, (_, index) => ({ ...orders(String(index))[0], data }))
    const headers = { 'aeg-sas-key': key, 'content-type': 'application/cloudevents-batch+json' }
    const publish = async () =>
      (await fetch(httpEndpoint, { method: 'POST', headers, body: JSON.stringify(events) })).status
    const statuses: number[] = []
    while (statuses.length < 60 && statuses.at(-1) !== 429) statuses.push(await publish())
    expect(statuses.at(-1)).toBe(429)
    const { totals } = Object(await (await fetch(`${emulate.proxy}/emulator/figures`)).json())
    expect(totals.pending).toBe(2_000 * statuses.filter((status) => status === 200).length)
  })
})
