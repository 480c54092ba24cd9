import { context, ROOT_CONTEXT, SpanKind, trace } from '@opentelemetry/api'
import { expect, it } from 'vitest'
import { RejectEvent } from '../../src/index.ts'
import type { ReceiveAnswer } from '../../src/receiver/namespace-client.ts'
import { traceClient } from '../../src/receiver/telemetry.ts'
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
  // A span that lasts no longer than the request that initialises the binding.
  const request = trace.getTracer('host').startSpan('POST /init', { kind: SpanKind.SERVER })
  await context.with(trace.setSpan(ROOT_CONTEXT, request), () => binding.init(byKey))
  const traceparent = traceparentOf('a')
  const origin = { traceId: 'a'.repeat(32), spanId: 'a'.repeat(16) }
  await publish(order('e1', { traceparent }), order('e2', { traceparent }))
  await emulator.settled()
  // Ends the long poll, too.
  await binding.close()

  const processed = telemetry.spans('process app')
  expect(processed.map(({ attributes }) => attributes['messaging.message.id'])).toEqual(['e1', 'e2'])
  for (const span of processed) {
    expect(span.attributes).toMatchObject({ 'messaging.destination.name': 'orders', 'eventgrid.delivery_count': 0 })
    expect(span.parentSpanContext).toBeUndefined()
    expect(span.links.map(({ context }) => idsOf(context))).toEqual([origin])
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
    expect(span.links.map(({ context }) => idsOf(context))).toEqual([origin])
    expect(span.attributes).toMatchObject({ 'messaging.operation.type': 'settle', 'messaging.batch.message_count': 1 })
  }
  const durations = await telemetry.metric('messaging.client.operation.duration')
  const names = durations.map(({ attributes }) => attributes['messaging.operation.name'])
  expect(names).toEqual(expect.arrayContaining(['receive', 'acknowledge', 'reject']))
  expect(await telemetry.text()).not.toContain(topic.key)
})

const at = { namespaceEndpoint: 'https://shop.example', topicName: 'orders', eventSubscriptionName: 'app' }
const served = {
  events: [{ bytes: Buffer.from('{}'), value: {}, lockToken: 'a', deliveryCount: 1, origin: undefined }],
}

it.each<{ name: string; answer: ReceiveAnswer; isAborted?: boolean; type: string | undefined; count: number }>([
  { name: 'that brought an event', answer: served, type: undefined, count: 1 },
  { name: 'that was refused', answer: { failure: { status: 503, reason: '' } }, type: '503', count: 0 },
  { name: 'without an answer', answer: { failure: { reason: '' } }, type: 'unreachable', count: 0 },
  { name: 'without a token', answer: { failure: { reason: '', noToken: true } }, type: 'no-token', count: 0 },
  { name: 'that we end', answer: { failure: { reason: '' } }, isAborted: true, type: undefined, count: 0 },
])('tells of a receive $name how it ended', async ({ answer, isAborted, type, count }) => {
  const telemetry = startTelemetry()
  const client = traceClient(
    { receive: async () => answer, settle: async () => ({ failed: new Map() }), close() {} },
    at,
  )
  const signal = isAborted ? AbortSignal.abort() : new AbortController().signal
  expect(await client.receive({ maxEvents: 1, maxWaitSeconds: 10, signal })).toBe(answer)
  const span = telemetry.span('receive app')
  const common = {
    'messaging.system': expect.any(String),
    'messaging.operation.name': 'receive',
    'messaging.operation.type': 'receive',
    'messaging.destination.name': 'orders',
    'messaging.destination.subscription.name': 'app',
    'server.address': 'shop.example',
    ...(type !== undefined && { 'error.type': type }),
  }
  expect(span.attributes).toEqual({ ...common, 'messaging.batch.message_count': count })
  const [duration] = await telemetry.metric('messaging.client.operation.duration')
  expect(duration?.attributes).toEqual(common)
})
