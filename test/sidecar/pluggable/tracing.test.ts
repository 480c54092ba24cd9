import { trace } from '@opentelemetry/api'
import { expect, it } from 'vitest'
import { startTelemetry, traceparentOf } from '../../support/telemetry.ts'
import { cloudEvent, deliver, openComponent, openReading } from './open-component.ts'

it('hands daprd the context of the process span, so that its span joins the trace', async () => {
  const telemetry = startTelemetry()
  const { port, reading } = await openReading()
  const answer = deliver(port, { ...cloudEvent('e1'), traceparent: traceparentOf('a'), tracestate: 'shop=1' })
  const message = await reading.next()
  reading.acknowledge(message)
  expect((await answer).status).toBe(200)
  const span = telemetry.span('process orders')
  const { traceId, spanId } = span.spanContext()
  expect(message.metadata.traceparent).toBe(`00-${traceId}-${spanId}-01`)
  expect(message.metadata).not.toHaveProperty('tracestate')
  expect(span.links[0]?.context.traceId).toBe('a'.repeat(32))
})

it.each([
  { name: 'the context of the event', event: { traceparent: traceparentOf('a'), tracestate: 'shop=1' }, given: 'a' },
  { name: 'else that of the delivery', event: {}, given: 'b' },
  {
    name: 'that of the delivery where the event has one of zeros',
    event: { traceparent: traceparentOf('0') },
    given: 'b',
  },
])('hands daprd without an SDK $name', async ({ event, given }) => {
  const { port, reading } = await openReading()
  const answer = deliver(port, { ...cloudEvent('e1'), ...event }, { traceparent: traceparentOf('b') })
  const message = await reading.next()
  reading.acknowledge(message)
  await answer
  expect(message.metadata.traceparent).toBe(traceparentOf(given))
  expect(message.metadata.tracestate).toBe(given === 'a' ? 'shop=1' : undefined)
})

it('publishes with the context that daprd gives in the metadata, and links its span to it', async () => {
  const telemetry = startTelemetry()
  const { host, fields, emulator } = await openComponent()
  await host.init('output', 'orders', fields)
  const event = { specversion: '1.0', id: 'e1', source: '/s', type: 't' }
  await host.invoke('orders', {
    operation: 'create',
    data: Buffer.from(JSON.stringify(event)),
    metadata: { traceparent: traceparentOf('d') },
  })
  const published = emulator.records.requests.last
  expect(published).toMatchObject({ route: 'topic', body: [{ ...event, traceparent: traceparentOf('d') }] })
  expect(telemetry.span('publish orders').links[0]?.context.traceId).toBe('d'.repeat(32))
})

it('puts the ids of the active span on log lines', async () => {
  const telemetry = startTelemetry()
  const { port, reading, log } = await openReading()
  const answer = deliver(port, cloudEvent('e1'))
  reading.acknowledge(await reading.next(), 'boom')
  expect((await answer).status).toBe(500)
  const { traceId, spanId } = telemetry.span('process orders').spanContext()
  const line = log.lines.find(({ message }) => message.startsWith('the handler failed'))
  expect(line?.fields).toMatchObject({ traceId, spanId })
  expect(trace.getActiveSpan()).toBeUndefined()
})
