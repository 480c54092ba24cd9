import { SpanKind } from '@opentelemetry/api'
import { expect, it, onTestFinished } from 'vitest'
import { EventGridEmulator } from '../../src/emulator/index.ts'
import { Binding, RejectEvent } from '../../src/index.ts'
import { idsOf, startTelemetry, traceparentOf } from '../support/telemetry.ts'

const namespaces = [{ name: 'shop', topics: [{ name: 'orders', eventSubscriptions: [{ name: 'app' }] }] }]

it('makes receive, process and settle spans of pull delivery', async () => {
  const telemetry = startTelemetry()
  const emulator = await EventGridEmulator.start({ namespaces })
  const binding = new Binding({
    endpoints: emulator.endpoints,
    onEvent({ cloudEvent }) {
      if (cloudEvent.id === 'e2') throw new RejectEvent('never')
    },
  })
  onTestFinished(async () => {
    await binding.close()
    await emulator.close()
  })
  const topic = emulator.namespaceTopic('orders')
  await binding.init({
    deliveryMode: 'pull',
    namespaceTopic: topic.id,
    namespaceEndpoint: topic.namespaceEndpoint,
    namespaceKey: topic.key,
    eventSubscriptionName: 'app',
  })
  const traceparent = traceparentOf('a')
  const event = (id: string) => ({ specversion: '1.0', id, source: '/shop', type: 't', data: {}, traceparent })
  const published = await fetch(`${emulator.proxy}/namespaces/shop/topics/orders:publish?api-version=2024-06-01`, {
    method: 'POST',
    headers: {
      authorization: `SharedAccessKey ${topic.key}`,
      'content-type': 'application/cloudevents-batch+json; charset=utf-8',
    },
    body: JSON.stringify([event('e1'), event('e2')]),
  })
  expect(published.status).toBe(200)
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
