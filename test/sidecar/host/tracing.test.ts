import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { startCollector } from '../../../examples/tracing/collector.ts'
import { openDaprApp } from '../../support/dapr-app.ts'
import { traceparentOf } from '../../support/telemetry.ts'
import { openHostWorld } from './open-host.ts'

const register = fileURLToPath(new URL('../../../examples/tracing/register.ts', import.meta.url))

it('joins the trace of the application that publishes to that of the application that handles, with an SDK by --import', async () => {
  const world = await openHostWorld()
  const collector = await startCollector()
  onTestFinished(() => collector.close())
  const app = await openDaprApp()
  const host = world.start(['--app-port', String(app.port)], {
    NODE_OPTIONS: `--disable-warning=ExperimentalWarning --import ${register}`,
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint,
  })
  await host.takesEvents('orders')
  const answer = await fetch(`${await host.api}/v1.0/bindings/orders`, {
    method: 'POST',
    headers: { traceparent: traceparentOf('a') },
    body: JSON.stringify({ operation: 'create', data: { order: 1 } }),
  })
  expect(answer.status).toBe(200)
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
