import { describe, expect, it, vi } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import { cloudEvent, deliver, openComponent, openReading } from './open-component.ts'

it('hands on the bytes of the event as they were sent', async () => {
  const open = await openReading()
  const body = '{ "specversion":"1.0","id":"a", "source":"/s","type":"t","data":{"n":12345678901234567890} }'
  const answer = deliver(open.port, body)
  const event = await open.reading.next()
  expect(event.data.toString()).toBe(body)
  open.reading.acknowledge(event)
  expect((await answer).status).toBe(200)
})

it('gives up an unacknowledged event after four times handlerTimeout, so that a redelivery reaches the application', async () => {
  const open = await openReading({ handlerTimeout: '100ms' })
  const again = () => deliver(open.port, cloudEvent('a'), { 'aeg-delivery-count': '1' })
  expect((await deliver(open.port, cloudEvent('a'))).status).toBe(503)
  await open.reading.next()
  // One that comes soon joins the first; one that comes when that was given up is handed on.
  const second = open.reading.next()
  await vi.waitFor(
    async () => {
      expect((await again()).status).toBe(503)
      expect(open.reading.events.length).toBeGreaterThan(1)
    },
    { timeout: 30_000, interval: 50 },
  )
  expect(JSON.parse((await second).data.toString())).toMatchObject({ id: 'a' })
})

it('hands on many events that come at once in their order, each once', async () => {
  const open = await openReading()
  const ids = Array.from({ length: 200 }, (_, n) => String(n))
  const answer = deliver(
    open.port,
    ids.map((id) => cloudEvent(id)),
    { 'content-type': 'application/cloudevents-batch+json' },
  )
  const handed: string[] = []
  for (let n = 0; n < ids.length; n++) {
    const event = await open.reading.next()
    handed.push(JSON.parse(event.data.toString()).id)
    open.reading.acknowledge(event)
  }
  expect(handed).toEqual(ids)
  expect((await answer).status).toBe(200)
  expect(open.reading.events).toHaveLength(ids.length)
})

it.each(['boom', 'status code: 404 body: no such order', 'status code: 503', 'input binding is closed', ''])(
  'answers 500 to an acknowledgement with the error %j, whatever status its text names',
  async (error) => {
    const open = await openReading()
    const answer = deliver(open.port, cloudEvent('a'))
    open.reading.acknowledge(await open.reading.next(), error)
    expect((await answer).status).toBe(500)
  },
)

const trace = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
it.each([
  {
    name: 'aeg-* and the trace, and nothing else that the delivery carried',
    headers: {
      ...{ 'aeg-event-type': 'Notification', 'aeg-delivery-count': '0', 'aeg-sas-key': 'k', 'aeg-sas-token': 't' },
      ...{ traceparent: trace, tracestate: 'a=b', authorization: 'Bearer x', cookie: 'c=1', 'x-tenant': 'blue' },
      'x-eventgrid-binding-token': 'key.token',
    },
    is: { 'aeg-event-type': 'Notification', 'aeg-delivery-count': '0', traceparent: trace, tracestate: 'a=b' },
  },
  {
    name: 'no trace that is turned off',
    headers: { traceparent: `00-${'0'.repeat(32)}-${'0'.repeat(16)}-00`, tracestate: 'a=b' },
    is: {},
  },
])('has in the metadata of an event $name', async ({ headers, is }) => {
  const open = await openReading()
  const answer = deliver(open.port, cloudEvent('a'), headers)
  const event = await open.reading.next()
  open.reading.acknowledge(event)
  await answer
  expect(event.metadata).toEqual({ 'aeg-subscription-name': 'ORDERS', ...is })
})

it('answers 503 while nobody reads, and delivers once somebody does', async () => {
  const { host, fields, emulator, publish } = await openComponent()
  await host.init('input', 'orders', fields)
  await emulator.records.handshakes.waitFor(({ outcome }) => outcome === 'validated')
  await emulator.idle()
  await publish('1')
  await emulator.records.deliveries.waitFor(({ status }) => status === 503)
  const reading = await host.read('orders')
  reading.acknowledge(await reading.next())
  await emulator.settled()
  expect(emulator.records.deliveries.last).toMatchObject({ status: 200 })
})

describe('several Reads', () => {
  it('gives events to the newest, and goes back to the older when that ends', async () => {
    const open = await openReading()
    const newer = await open.connect().read('orders')
    await eventually(() => expect(open.log.text()).toContain('opened another Read'))
    const lost = deliver(open.port, cloudEvent('a'))
    await newer.next()
    newer.cancel()
    expect((await lost).status).toBe(500)
    const answer = deliver(open.port, cloudEvent('a'), { 'aeg-delivery-count': '1' })
    open.reading.acknowledge(await open.reading.next())
    expect((await answer).status).toBe(200)
  })

  it('ignores an acknowledgement of an event that another stream was given', async () => {
    const open = await openReading()
    const other = await open.connect().read('payments')
    const answer = deliver(open.port, cloudEvent('a'))
    const event = await open.reading.next()
    other.acknowledge(event)
    open.reading.acknowledge(event, 'no')
    expect((await answer).status).toBe(500)
  })
})

it('answers 500 for what was sent when the stream ends, so that it comes again, and 503 after', async () => {
  const open = await openReading()
  const lost = deliver(open.port, cloudEvent('a'))
  await open.reading.next()
  open.reading.cancel()
  expect((await lost).status).toBe(500)
  expect((await deliver(open.port, cloudEvent('b'))).status).toBe(503)
  expect(open.log.lines.filter(({ message }) => message.includes('stopped reading events'))).toHaveLength(1)
})

it('ends a stream whose host has ended its half, since no acknowledgement can come any more', async () => {
  const open = await openReading()
  open.reading.end()
  await open.reading.ended
  expect((await deliver(open.port, cloudEvent('a'))).status).toBe(503)
})

/** Delivers until events wait for room in the stream, since the host does not read on. */
async function fill({ pluggable, reading, port }: Awaited<ReturnType<typeof openReading>>) {
  const waiting = async () =>
    Number(/^eventgrid_binding_events_waiting\{.*\} (\d+)$/m.exec(await pluggable.metrics.text())?.[1])
  reading.pause()
  const answers = Array.from({ length: 100 }, (_, n) => deliver(port, cloudEvent(String(n), 'x'.repeat(50_000))))
  await vi.waitFor(async () => expect(await waiting()).toBeGreaterThan(0), { timeout: 30_000 })
  return { answers, waiting }
}

it('gives up at once, when it drains, what waits for room in a stream that ends', async () => {
  const open = await openReading()
  const { answers } = await fill(open)
  // Some may be cut off before the end of close.
  const outcomes = Promise.allSettled(answers)
  const closed = open.pluggable.close()
  open.reading.cancel()
  await closed
  expect((await outcomes).filter((outcome) => outcome.status === 'fulfilled' && outcome.value.ok)).toEqual([])
})

it('sends no more than the stream takes while the host does not read on', async () => {
  const open = await openReading()
  const { answers, waiting } = await fill(open)
  open.reading.resume()
  for (let n = 0; n < answers.length; n++) open.reading.acknowledge(await open.reading.next())
  expect(new Set((await Promise.all(answers)).map(({ status }) => status))).toEqual(new Set([200]))
  expect(await waiting()).toBe(0)
})
