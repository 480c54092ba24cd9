import { SpanStatusCode, trace } from '@opentelemetry/api'
import { expect, it } from 'vitest'
import { bounded } from '../../src/core/telemetry.ts'
import { openWorld } from '../support/open-world.ts'
import { refusal } from '../support/refusal.ts'
import { idsOf, startTelemetry } from '../support/telemetry.ts'

it('leads from the span of the publisher to that of the handler', async () => {
  const telemetry = startTelemetry()
  const world = await openWorld({
    binding: { onEvent: () => void trace.getTracer('host').startActiveSpan('confirm', (span) => span.end()) },
  })
  await world.init()
  await trace.getTracer('host').startActiveSpan('order', async (span) => {
    await world.binding.invoke('create', { order: 1 })
    span.end()
  })
  await world.emulator.settled()

  const [order, publish] = [telemetry.span('order'), telemetry.span('publish orders')]
  const [process, confirm] = [telemetry.span('process orders'), telemetry.span('confirm')]
  expect(publish.parentSpanContext).toMatchObject(idsOf(order.spanContext()))
  expect(process.links.map(({ context }) => idsOf(context))).toEqual([idsOf(publish.spanContext())])
  expect(process.parentSpanContext).toBeUndefined()
  expect(process.attributes['messaging.destination.name']).toBe('orders')
  expect(confirm.parentSpanContext).toMatchObject(idsOf(process.spanContext()))
  const text = await telemetry.text()
  for (const secret of [world.fields.clientSecret, world.fields.accessKey]) expect(text).not.toContain(secret)
})

it('makes a span of the upsert, below the active span, with what was done', async () => {
  const telemetry = startTelemetry()
  const world = await openWorld()
  await trace.getTracer('host').startActiveSpan('start', async (span) => {
    await world.init()
    span.end()
  })
  const span = telemetry.span('upsert event subscription')
  expect(span.parentSpanContext).toMatchObject(idsOf(telemetry.span('start').spanContext()))
  expect(span.attributes).toEqual({
    'messaging.system': 'eventgrid',
    'messaging.destination.subscription.name': 'orders',
    'eventgrid.upsert.action': 'created',
  })
  const { traceId, spanId } = span.spanContext()
  const line = world.log.lines.find(({ message }) => message.includes('is provisioned'))
  expect(line?.fields).toMatchObject({ traceId, spanId })
})

it('ends the span of an upsert that fails with the code of the error', async () => {
  const telemetry = startTelemetry()
  const world = await openWorld()
  world.emulator.removeRoles(world.emulator.clientId)
  expect((await refusal(world.init())).code).toBe('PERMISSION_DENIED')
  const span = telemetry.span('upsert event subscription')
  expect(span.status).toEqual({ code: SpanStatusCode.ERROR })
  expect(span.attributes['error.type']).toBe('PERMISSION_DENIED')
})

// A collector refuses the whole export for one attribute that is not UTF-8.
it('gives attributes that can be written as UTF-8, whatever an event holds', () => {
  expect(bounded('order \ud83d')).toBe('order \ufffd')
  expect(bounded(`${'x'.repeat(254)}😀😀`)).toBe(`${'x'.repeat(254)}…`)
})
