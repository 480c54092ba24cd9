import { SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { expect, it } from 'vitest'
import { refusal } from '../support/refusal.ts'
import { idsOf, startTelemetry, traceparentOf } from '../support/telemetry.ts'
import { openHeldTopic, openPublisher, openTopic } from './open-publisher.ts'
import { event, problem, startTopic } from './scripted-topic.ts'

/** The endpoint of a topic named shop, at the address of a scripted one. */
const named = (endpoint: string) => new URL('/topics/shop/api/events?sig=secret', endpoint).href

const commonOf = (endpoint: string) => ({
  'messaging.system': 'eventgrid',
  'messaging.operation.name': 'publish',
  'messaging.operation.type': 'send',
  'messaging.destination.name': 'shop',
  'server.address': '127.0.0.1',
  'server.port': Number(new URL(endpoint).port),
})

it('makes a PRODUCER span for one event, below the active span, and gives the event its context', async () => {
  const telemetry = startTelemetry()
  const topic = await startTopic()
  const { publisher } = openPublisher(named(topic.endpoint))
  await trace.getTracer('host').startActiveSpan('order', async (span) => {
    await publisher.publish(event('e1'))
    span.end()
  })

  const span = telemetry.span('publish shop')
  expect(span.kind).toBe(SpanKind.PRODUCER)
  expect(span.parentSpanContext).toMatchObject(idsOf(telemetry.span('order').spanContext()))
  expect(span.attributes).toEqual({ ...commonOf(topic.endpoint), 'messaging.message.id': 'e1' })
  const { traceId, spanId } = span.spanContext()
  expect(topic.events()).toEqual([{ ...event('e1'), traceparent: `00-${traceId}-${spanId}-01` }])
  const attributes = commonOf(topic.endpoint)
  expect(await telemetry.metric('messaging.client.sent.messages')).toEqual([{ attributes, value: 1 }])
  expect(await telemetry.metric('messaging.client.operation.duration')).toEqual([{ attributes, value: 1 }])
  expect(await telemetry.text()).not.toContain('secret')
})

it('makes a CLIENT span for several events, links to the contexts that they bring, and changes none of them', async () => {
  const telemetry = startTelemetry()
  const topic = await startTopic()
  const { publisher } = openPublisher(named(topic.endpoint))
  const traced = event('e1', { traceparent: traceparentOf('a'), tracestate: 'shop=1' })
  await publisher.publish([traced, event('e2')])

  const span = telemetry.span('publish shop')
  expect(span.kind).toBe(SpanKind.CLIENT)
  expect(span.attributes).toEqual({ ...commonOf(topic.endpoint), 'messaging.batch.message_count': 2 })
  expect(span.links.map(({ context }) => context.traceId)).toEqual(['a'.repeat(32)])
  const { traceId } = span.spanContext()
  expect(topic.events()).toEqual([traced, { ...event('e2'), traceparent: expect.stringContaining(traceId) }])
})

it.each([
  { name: 'a whole CloudEvent', payload: event('e1') },
  { name: 'data', payload: { n: 1 } },
])('takes the context of the metadata of the call into $name, and links to it', async ({ payload }) => {
  const telemetry = startTelemetry()
  const topic = await startTopic()
  const { publisher } = openPublisher(named(topic.endpoint))
  await publisher.publish(payload, { metadata: { TraceParent: traceparentOf('c'), tracestate: 'shop=2' } })
  expect(topic.events()).toMatchObject([{ traceparent: traceparentOf('c'), tracestate: 'shop=2' }])
  expect(telemetry.span('publish shop').links[0]?.context.traceId).toBe('c'.repeat(32))
})

it('takes the context of the metadata into whole events without an SDK too, unless they have one', async () => {
  const { topic, publisher } = await openTopic()
  const metadata = { traceparent: traceparentOf('c') }
  const traced = event('e2', { traceparent: traceparentOf('a') })
  await publisher.publish([event('e1'), traced], { metadata })
  await publisher.publish(event('e3'), { metadata: { traceparent: traceparentOf('0') } })
  expect(topic.events()).toEqual([{ ...event('e1'), ...metadata }, traced, event('e3')])
})

it('adds no context to an event that it would make too large', async () => {
  startTelemetry()
  const topic = await startTopic()
  const text = JSON.stringify(event('e1'))
  const { publisher } = openPublisher(topic.endpoint, { limits: { maxEventBytes: text.length } })
  await publisher.publish(text)
  expect(topic.requests[0]?.body).toBe(`[${text}]`)
})

it('makes a CLIENT span of its own for a request that joins calls, linked to theirs', async () => {
  const telemetry = startTelemetry()
  const { topic, open, publisher } = await openHeldTopic()
  const calls = ['e1', 'e2', 'e3'].map((id) => publisher.publish(event(id)))
  await topic.arrived(1)
  open()
  await Promise.all(calls)

  const spans = telemetry.spans(/^publish/)
  const joint = spans.find(({ attributes }) => attributes['messaging.batch.message_count'] === 2)
  expect(spans).toHaveLength(4)
  expect(joint?.kind).toBe(SpanKind.CLIENT)
  expect(joint?.parentSpanContext).toBeUndefined()
  const joined = spans.filter(({ attributes }) => ['e2', 'e3'].includes(String(attributes['messaging.message.id'])))
  expect(joint?.links.map(({ context }) => idsOf(context))).toEqual(joined.map((span) => idsOf(span.spanContext())))
  expect(await telemetry.metric('messaging.client.operation.duration')).toMatchObject([{ value: 2 }])
  expect(await telemetry.metric('messaging.client.sent.messages')).toMatchObject([{ value: 3 }])
})

it('says with error.type why a call and why its request failed', async () => {
  const telemetry = startTelemetry()
  const { publisher } = await openTopic(() => ({ status: 403, body: problem('Forbidden', 'secret-of-azure') }))
  await expect(publisher.publish([event('e1'), event('e2')])).rejects.toThrow()
  const span = telemetry.span(/^publish/)
  expect(span.status).toEqual({ code: SpanStatusCode.ERROR })
  expect(span.attributes['error.type']).toBe('PERMISSION_DENIED')
  expect(await telemetry.metric('messaging.client.sent.messages')).toMatchObject([
    { attributes: { 'error.type': 'PERMISSION_DENIED' }, value: 2 },
  ])
  expect(await telemetry.metric('messaging.client.operation.duration')).toMatchObject([
    { attributes: { 'error.type': '403' }, value: 1 },
  ])
  expect(await telemetry.text()).not.toContain('secret-of-azure')
})

it('makes a span for a payload that is refused, and counts no event', async () => {
  const telemetry = startTelemetry()
  const { publisher } = await openTopic()
  expect((await refusal(publisher.publish(undefined))).code).toBe('PAYLOAD_INVALID')
  expect(telemetry.span(/^publish/).attributes['error.type']).toBe('PAYLOAD_INVALID')
  expect(await telemetry.metric('messaging.client.sent.messages')).toEqual([])
})

it.each([
  { endpoint: 'https://shop.westeurope-1.eventgrid.azure.net/api/events', topic: 'shop' },
  { endpoint: 'https://ns.westeurope-1.eventgrid.azure.net/topics/orders:publish', topic: 'orders' },
  { endpoint: 'https://events.example.com/in?key=secret', topic: 'events.example.com' },
])('calls the topic of $endpoint $topic', async ({ endpoint, topic }) => {
  const telemetry = startTelemetry()
  const { publisher } = openPublisher(endpoint)
  await expect(publisher.publish(undefined)).rejects.toThrow()
  expect(telemetry.span(`publish ${topic}`).attributes['messaging.destination.name']).toBe(topic)
})

it('links to 128 contexts at most, each once', async () => {
  const telemetry = startTelemetry()
  const { publisher } = await openTopic()
  const traceparent = (n: number) => `00-${String(n + 1).padStart(32, '0')}-00f067aa0ba902b7-01`
  const events = Array.from({ length: 130 }, (_, n) => event(`e${n}`, { traceparent: traceparent(n) }))
  await publisher.publish([...events.slice(0, 2), ...events])
  expect(telemetry.span(/^publish/).links.map(({ context }) => Number(context.traceId))).toEqual(
    Array.from({ length: 128 }, (_, n) => n + 1),
  )
})

it('links a joint request to 128 of its calls, and counts the events of all', async () => {
  const telemetry = startTelemetry()
  const { topic, open, publisher } = await openHeldTopic()
  const calls = Array.from({ length: 131 }, (_, n) => publisher.publish(event(`e${n}`)))
  await topic.arrived(1)
  open()
  await Promise.all(calls)
  const joint = telemetry.spans(/^publish/).filter(({ attributes }) => attributes['messaging.batch.message_count'])
  expect(joint.map(({ attributes, links }) => [attributes['messaging.batch.message_count'], links.length])).toEqual([
    [130, 128],
  ])
})

it('counts what was published of a call and what was not, and says of a request without an answer why', async () => {
  const telemetry = startTelemetry()
  const topic = await startTopic(({ index }) => (index === 0 ? { status: 200 } : { status: 404 }))
  const { publisher } = openPublisher(topic.endpoint, { limits: { maxRequestEvents: 2 } })
  const error = await refusal(publisher.publish(['1', '2', '3'].map((id) => event(id))))
  expect(error.code).toBe('PUBLISH_REJECTED')
  const sent = await telemetry.metric('messaging.client.sent.messages')
  expect(sent.map(({ attributes, value }) => [attributes['error.type'], value])).toEqual([
    [undefined, 2],
    ['PUBLISH_REJECTED', 1],
  ])
})

it('says with error.type why a request had no answer', async () => {
  const telemetry = startTelemetry()
  const topic = await startTopic(() => ({ cut: true }))
  const { publisher } = openPublisher(topic.endpoint, { limits: { retryBaseMs: 200_000, retryCapMs: 200_000 } })
  await refusal(publisher.publish(event('1')))
  const durations = await telemetry.metric('messaging.client.operation.duration')
  expect(durations).toMatchObject([{ attributes: { 'error.type': 'unreachable' }, value: 1 }])
})
