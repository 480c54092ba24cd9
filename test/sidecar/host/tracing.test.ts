import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { startCollector } from '../../../examples/tracing/collector.ts'
import { openDaprApp } from '../../support/dapr-app.ts'
import { openGrpcApp } from '../../support/grpc-app.ts'
import { traceparentOf } from '../../support/telemetry.ts'
import { openHostWorld, type RunningHost } from './open-host.ts'

const register = fileURLToPath(new URL('../../../examples/tracing/register.ts', import.meta.url))

/** A host, and the environment that registers the SDK in its process. */
async function openTraced() {
  const world = await openHostWorld()
  const collector = await startCollector()
  onTestFinished(() => collector.close())
  const env = {
    NODE_OPTIONS: `--disable-warning=ExperimentalWarning --import ${register}`,
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint,
  }
  return { world, collector, env }
}

/** Publishes through the API as an application that has a trace. */
async function publish(host: RunningHost): Promise<void> {
  const answer = await fetch(`${await host.api}/v1.0/bindings/orders`, {
    method: 'POST',
    headers: { traceparent: traceparentOf('a') },
    body: JSON.stringify({ operation: 'create', data: { order: 1 } }),
  })
  expect(answer.status).toBe(200)
}

it('joins the trace of the application that publishes to that of the application that handles, with an SDK by --import', async () => {
  const { world, collector, env } = await openTraced()
  const app = await openDaprApp()
  const host = world.start(['--app-port', String(app.port)], env)
  await host.takesEvents('orders')
  await publish(host)
  await world.emulator.settled()
  const [post] = await app.received('POST', 1)
  await collector.received('publish orders', 'process orders', 'upsert event subscription')

  const spanOf = (name: string) => collector.spans.find((span) => span.name === name)
  const process = spanOf('process orders')
  // The event keeps the context of the application that published it.
  const published = [{ traceId: 'a'.repeat(32), spanId: 'a'.repeat(16) }]
  expect(spanOf('publish orders')?.links).toMatchObject(published)
  expect(process?.links).toMatchObject(published)
  expect(post?.headers.traceparent).toBe(`00-${process?.traceId}-${process?.spanId}-01`)
})

it('hands the context of the process span to an application over gRPC, in the event and in the call', async () => {
  const { world, collector, env } = await openTraced()
  const app = await openGrpcApp()
  const host = world.start(['--app-port', String(app.port), '--app-protocol', 'grpc'], env)
  await host.takesEvents('orders')
  await publish(host)
  await world.emulator.settled()
  const [event] = await app.received(1)
  await collector.received('process orders')
  const process = collector.spans.find(({ name }) => name === 'process orders')
  const traceparent = `00-${process?.traceId}-${process?.spanId}-01`
  expect(event?.metadata.traceparent).toBe(traceparent)
  expect(event?.call.get('traceparent')).toEqual([traceparent])
})

it('hands the context of the event to the application without an SDK', async () => {
  const world = await openHostWorld()
  const app = await openDaprApp()
  const host = world.start(['--app-port', String(app.port)])
  await host.takesEvents('orders')
  await publish(host)
  await world.emulator.settled()
  const [post] = await app.received('POST', 1)
  expect(post?.headers.traceparent).toBe(traceparentOf('a'))
})
