/**
 * One order, from the span that publishes it to the span that confirms it, printed as a tree: `node examples/tracing/main.ts`. Everything
 * runs on this machine: an emulator of Event Grid, the binding, and a receiver of traces.
 */
import { trace } from '@opentelemetry/api'
import { Binding } from 'eventgrid-binding'
import { EventGridEmulator } from 'eventgrid-binding/emulator'
import { startCollector } from './collector.ts'
import { traceTree } from './trace-tree.ts'

const collector = await startCollector()
process.env.OTEL_EXPORTER_OTLP_ENDPOINT = collector.endpoint
// A program of its own would take it by --import.
await import('./register.ts')

const emulator = await EventGridEmulator.start()
const topic = emulator.topic('orders')
const tracer = trace.getTracer('shop')
const binding = new Binding({
  endpoints: emulator.endpoints,
  // Active here is the span of the event: what the handler does comes below it.
  onEvent: () => tracer.startActiveSpan('confirm order', (span) => span.end()),
})
emulator.setIngress(({ pathname }) => `http://127.0.0.1:${binding.address()?.port}${pathname}`)

await tracer.startActiveSpan('start the shop', async (span) => {
  await binding.init({
    tenantId: emulator.tenantId,
    subscriptionId: emulator.subscriptionId,
    clientId: emulator.clientId,
    clientSecret: emulator.clientSecret,
    subscriberEndpoint: 'https://shop.example.com/api/events',
    handshakePort: '0',
    scope: topic.id,
    eventSubscriptionName: 'shop',
    topicEndpoint: topic.endpoint,
    accessKey: topic.key,
  })
  span.end()
})

await tracer.startActiveSpan('place order', async (span) => {
  await binding.invoke('create', { order: 42 }, { metadata: { type: 'order.placed' } })
  span.end()
})

await collector.received('place order', 'process shop', 'confirm order')
console.log(traceTree(collector.spans).join('\n'))

await binding.close()
await emulator.close()
collector.close()
