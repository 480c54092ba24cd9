import { SpanKind } from '@opentelemetry/api'
import { expect, it } from 'vitest'
import { RejectEvent } from '../../src/index.ts'
import { openPull, order } from '../support/open-pull.ts'
import { idsOf, startTelemetry, traceparentOf } from '../support/telemetry.ts'

it('makes receive, process and settle spans of pull delivery', async () => {
  const telemetry = startTelemetry()
  const { emulator, binding, topic, publish, byKey } = await openPull({
    binding: {
      onEvent({ cloudEvent }) {
        if (cloudEvent.id === 'e2') throw new RejectEvent('never')
      },
    },
  })
  await binding.init(byKey)
  const traceparent = traceparentOf('a')
  await publish(order('e1', { traceparent }), order('e2', { traceparent }))
  await emulator.settled()
  // Ends the long poll, too.
  await binding.close()

  const processed = telemetry.spans('process app')
  expect(processed.map(({ attributes }) => attributes['messaging.message.id'])).toEqual(['e1', 'e2'])
  for (const span of processed) {
    expect(span.attributes).toMatchObject({ 'messaging.destination.name': 'orders', 'eventgrid.delivery_count': 0 })
    expect(span.parentSpanContext).toBeUndefined()
    expect(span.links.map(({ context }) => idsOf(context))).toEqual([
      { traceId: 'a'.repeat(32), spanId: 'a'.repeat(16) },
    ])
  }
  const received = telemetry.spans('receive app')
  const counts = received.map(({ attributes }) => Number(attributes['messaging.batch.message_count']))
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(2)
  const settled = [telemetry.span('acknowledge app'), telemetry.span('reject app')]
  for (const span of [...received, ...settled]) {
    expect(span.kind).toBe(SpanKind.CLIENT)
    expect(span.parentSpanContext).toBeUndefined()
    expect(span.attributes).not.toHaveProperty('error.type')
  }
  for (const span of settled) {
    expect(span.links.map(({ context }) => idsOf(context))).toEqual([
      { traceId: 'a'.repeat(32), spanId: 'a'.repeat(16) },
    ])
  }
  expect(settled.map(({ attributes }) => attributes)).toMatchObject([
    { 'messaging.operation.type': 'settle', 'messaging.batch.message_count': 1 },
    { 'messaging.operation.type': 'settle', 'messaging.batch.message_count': 1 },
  ])
  const durations = await telemetry.metric('messaging.client.operation.duration')
  const names = durations.map(({ attributes }) => attributes['messaging.operation.name'])
  expect(names).toEqual(expect.arrayContaining(['receive', 'acknowledge', 'reject']))
  expect(await telemetry.text()).not.toContain(topic.key)
})
