import { setImmediate } from 'node:timers/promises'
import { context, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { expect, it } from 'vitest'
import { RejectEvent } from '../../src/core/event.ts'
import { cloudEventText, credentialFrom, eventGridText, openListener } from '../listener/open-listener.ts'
import { createManualClock } from '../support/manual-clock.ts'
import { skipTime } from '../support/skipped-time.ts'
import { idsOf, startTelemetry, traceparentOf } from '../support/telemetry.ts'

const common = {
  'messaging.system': 'eventgrid',
  'messaging.operation.name': 'process',
  'messaging.operation.type': 'process',
  'messaging.destination.subscription.name': 'orders',
}

const topicScope = {
  kind: 'topic',
  id: '/subscriptions/1/resourceGroups/rg/providers/Microsoft.EventGrid/topics/shop',
  subscriptionId: '1',
  resourceGroup: 'rg',
  provider: 'Microsoft.EventGrid',
  path: [{ type: 'topics', name: 'shop' }],
} as const

it('makes one CONSUMER span for an event, a root with a link to the context in the event', async () => {
  const telemetry = startTelemetry()
  const { deliver } = await openListener({ input: { scope: topicScope } })

  await deliver(cloudEventText('e1', { traceparent: traceparentOf('a'), tracestate: 'shop=1' }), {
    traceparent: traceparentOf('b'),
    'X-EventGrid-Binding-Token': credentialFrom('client secret', topicScope.id).text,
  })

  const span = telemetry.span('process orders')
  expect(span.kind).toBe(SpanKind.CONSUMER)
  expect(span.parentSpanContext).toBeUndefined()
  expect(span.attributes).toEqual({
    ...common,
    'messaging.destination.name': 'shop',
    'messaging.message.id': 'e1',
    'cloudevents.event_id': 'e1',
    'cloudevents.event_source': '/shop',
    'cloudevents.event_type': 'Shop.Order.Placed',
    'eventgrid.delivery_count': 0,
  })
  expect(span.links.map(({ context: linked }) => idsOf(linked))).toEqual([
    { traceId: 'a'.repeat(32), spanId: 'a'.repeat(16) },
  ])
  expect(span.links[0]?.context.traceState?.get('shop')).toBe('1')
  expect(span.status.code).toBe(SpanStatusCode.UNSET)
  const attributes = { ...common, 'messaging.destination.name': 'shop' }
  expect(await telemetry.metric('messaging.process.duration')).toEqual([{ attributes, value: 1 }])
  expect(await telemetry.metric('messaging.client.consumed.messages')).toEqual([{ attributes, value: 1 }])
})

it.each([
  { name: 'without a context in the event', text: cloudEventText('e1') },
  { name: 'in the Event Grid schema', text: eventGridText('e1') },
  { name: 'whose context is of zeros', text: cloudEventText('e1', { traceparent: traceparentOf('0') }) },
])('links the span of an event $name to the context of the delivery', async ({ text }) => {
  const telemetry = startTelemetry()
  const { deliver } = await openListener()
  await deliver(text, { traceparent: traceparentOf('b') })
  expect(telemetry.span('process orders').links[0]?.context.traceId).toBe('b'.repeat(32))
})

it('makes no link where neither event nor delivery has a context', async () => {
  const telemetry = startTelemetry()
  const { deliver } = await openListener()
  await deliver(cloudEventText('e1'))
  expect(telemetry.span('process orders').links).toEqual([])
})

it('makes a span for each event of a batch, each active in its own handler, also after an await, with 256 at once', async () => {
  const telemetry = startTelemetry()
  const seen = new Map<string, string | undefined>()
  const all = Promise.withResolvers<void>()
  let begun = 0
  const { deliver } = await openListener({
    input: { maxConcurrency: 256 },
    async handler({ cloudEvent }) {
      begun++
      if (begun === 256) all.resolve()
      await all.promise
      await setImmediate()
      seen.set(cloudEvent.id, trace.getActiveSpan()?.spanContext().spanId)
    },
  })
  const texts = Array.from({ length: 128 }, (_, n) => cloudEventText(`b${n}`))
  const others = Array.from({ length: 128 }, (_, n) => deliver(cloudEventText(`s${n}`)))
  const answers = await Promise.all([deliver(`[${texts.join()}]`), ...others])

  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
  const spans = telemetry.spans('process orders')
  expect(spans).toHaveLength(256)
  const byEvent = new Map(spans.map((span) => [span.attributes['messaging.message.id'], span.spanContext().spanId]))
  expect(seen).toEqual(byEvent)
  expect(new Set(seen.values()).size).toBe(256)
})

it('makes the span a child of the request only where the active span is a SERVER span', async () => {
  const telemetry = startTelemetry()
  const tracer = trace.getTracer('host')
  const server = tracer.startSpan('POST', { kind: SpanKind.SERVER }, ROOT_CONTEXT)
  const { deliver } = await openListener({
    // As the instrumentation of HTTP does: the context of the request holds its span.
    fastify: (app) => {
      app.addHook('onRequest', (request, _reply, done) => {
        const own = trace.setSpan(ROOT_CONTEXT, server)
        context.bind(own, request.raw)
        context.with(own, done)
      })
    },
  })
  await deliver(cloudEventText('e1', { traceparent: traceparentOf('a') }))
  const span = telemetry.span('process orders')
  expect(span.parentSpanContext).toMatchObject(idsOf(server.spanContext()))
  expect(span.links).toHaveLength(1)
})

it('does not take a span that was active when the listener was opened as the parent', async () => {
  const telemetry = startTelemetry()
  const opened = await trace.getTracer('host').startActiveSpan('init', async (span) => {
    const listener = await openListener()
    span.end()
    return listener
  })
  await opened.deliver(cloudEventText('e1'))
  expect(telemetry.span('process orders').parentSpanContext).toBeUndefined()
})

it('measures the handler in seconds', async () => {
  const telemetry = startTelemetry()
  const skip = skipTime()
  const { deliver } = await openListener({ handler: () => skip(2_000) })
  await deliver(cloudEventText('e1'))
  const [, sum] = (await telemetry.text()).match(/"sum":([\d.]+)/) ?? []
  expect(Number(sum)).toBeGreaterThanOrEqual(2)
  expect(Number(sum)).toBeLessThan(20)
})

class OutOfStock extends Error {
  override readonly name = 'OutOfStock'
}

it.each([
  { name: 'an error of a class', thrown: new OutOfStock('secret-in-message'), type: 'OutOfStock', status: 500 },
  { name: 'a rejection', thrown: new RejectEvent('secret-in-message'), type: 'RejectEvent', status: 400 },
  { name: 'what is no error', thrown: 'secret-in-message', type: '_OTHER', status: 500 },
])('ends the span with error.type for $name, without its message', async ({ thrown, type, status }) => {
  const telemetry = startTelemetry()
  const { deliver, log } = await openListener({
    handler() {
      throw thrown
    },
  })
  const answer = await deliver(cloudEventText('e1'))
  expect(answer.status).toBe(status)
  const span = telemetry.span('process orders')
  expect(span.status).toEqual({ code: SpanStatusCode.ERROR })
  expect(span.attributes['error.type']).toBe(type)
  expect(await telemetry.metric('messaging.process.duration')).toMatchObject([{ attributes: { 'error.type': type } }])
  expect(await telemetry.text()).not.toContain('secret-in-message')
  expect(log.text()).toContain('the handler')
})

it('makes a new span for a redelivery, linked to the same context, with the delivery count', async () => {
  const telemetry = startTelemetry()
  let calls = 0
  const { deliver } = await openListener({
    handler() {
      calls++
      if (calls === 1) throw new Error('not yet')
    },
  })
  const text = cloudEventText('e1', { traceparent: traceparentOf('a') })
  await deliver(text)
  await deliver(text, { 'aeg-delivery-count': '1' })
  const spans = telemetry.spans('process orders')
  expect(spans.map(({ attributes }) => attributes['eventgrid.delivery_count'])).toEqual([0, 1])
  expect(spans.map(({ links }) => links[0]?.context.traceId)).toEqual(['a'.repeat(32), 'a'.repeat(32)])
})

it('ends the span of a handler that takes too long, with error.type timeout, and only once', async () => {
  const telemetry = startTelemetry()
  const time = createManualClock()
  const handling = Promise.withResolvers<void>()
  const started = Promise.withResolvers<void>()
  const { deliver, listener } = await openListener({
    clock: time.clock,
    async handler() {
      started.resolve()
      await handling.promise
    },
  })
  const answer = deliver(cloudEventText('e1'))
  await started.promise
  time.advance(25_000)
  expect((await answer).status).toBe(503)
  expect(telemetry.span('process orders').attributes['error.type']).toBe('timeout')
  handling.resolve()
  await listener.drain()
  const attributes = { ...common, 'error.type': 'timeout' }
  expect(await telemetry.metric('messaging.process.duration')).toEqual([{ attributes, value: 1 }])
  expect(await telemetry.metric('messaging.client.consumed.messages')).toEqual([{ attributes, value: 1 }])
})

it.each([
  {
    name: 'without a credential',
    headers: { 'x-eventgrid-binding-token': undefined, 'aeg-subscription-name': 'OTHER' },
    status: 401,
  },
  { name: 'without a handler', handler: undefined, status: 503 },
  { name: 'that is not JSON', text: '{', status: 400 },
  { name: 'that is not an event', text: '{}', status: 400 },
])('makes no span for a delivery $name, and counts it', async ({ headers, text, status, ...rest }) => {
  const telemetry = startTelemetry()
  const { deliver } = await openListener('handler' in rest ? { handler: undefined } : {})
  const answer = await deliver(text ?? cloudEventText('e1'), headers)
  expect(answer.status).toBe(status)
  expect(telemetry.spans()).toEqual([])
  expect(await telemetry.metric('messaging.client.consumed.messages')).toEqual([
    { attributes: { ...common, 'error.type': String(status) }, value: 1 },
  ])
})

it('counts no event for the notice that the event subscription was deleted', async () => {
  const telemetry = startTelemetry()
  const { deliver } = await openListener()
  expect((await deliver(cloudEventText('e1'), { 'aeg-event-type': 'SubscriptionDeletion' })).status).toBe(200)
  expect(await telemetry.metric('messaging.client.consumed.messages')).toEqual([])
})

it('counts an event that waits for a free call in vain', async () => {
  const telemetry = startTelemetry()
  const { clock, advance, waits } = createManualClock()
  const { promise: ended, resolve: end } = Promise.withResolvers<void>()
  const { deliver } = await openListener({ clock, input: { maxConcurrency: 1 }, handler: () => ended })
  const waiting = waits((ms) => ms === 3_000)
  const answers = ['e1', 'e2'].map((id) => deliver(cloudEventText(id)))
  await waiting
  advance(3_000)
  expect(await Promise.race(answers).then(({ status }) => status)).toBe(503)
  end()
  await Promise.all(answers)
  const attributes = { ...common, 'error.type': '503' }
  expect(await telemetry.metric('messaging.client.consumed.messages')).toContainEqual({ attributes, value: 1 })
})

it('puts no data, no query of a URL and no user into attributes, and bounds their length', async () => {
  const telemetry = startTelemetry()
  const { deliver } = await openListener()
  const source = `https://user:secret@shop.example.com/${'p'.repeat(2_000)}?sig=secret#secret`
  const more = { source, type: 't'.repeat(5_000), subject: 'secret', data: 'secret', other: 'secret' }
  await deliver(cloudEventText('i'.repeat(5_000), more), { 'x-attribute': 'secret' })
  expect(await telemetry.text()).not.toContain('secret')
  const { attributes } = telemetry.span('process orders')
  expect(attributes['cloudevents.event_source']).toMatch(/^https:\/\/shop\.example\.com\/p+…$/)
  for (const value of Object.values(attributes)) expect(String(value).length).toBeLessThanOrEqual(256)
})
