import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished } from 'vitest'
import { startCollector } from '../../examples/tracing/collector.ts'
import { openDaprApp } from '../support/dapr-app.ts'
import { makeSocketFolder } from '../support/socket-folder.ts'
import { traceparentOf } from '../support/telemetry.ts'
import { openOrders, withDaprd } from './stack.ts'

const register = fileURLToPath(new URL('../../examples/tracing/register.ts', import.meta.url))

const traceOf = (traceparent: unknown) => String(traceparent).split('-')[1]

withDaprd(
  'the trace of a delivery goes from the application that publishes to the request of the one that handles',
  async () => {
    const collector = await startCollector()
    onTestFinished(() => collector.close())
    const traced = join(makeSocketFolder(), 'traced.yaml')
    writeFileSync(
      traced,
      `apiVersion: dapr.io/v1alpha1
kind: Configuration
metadata: { name: traced }
spec:
  nameResolution: { component: none }
  tracing: { samplingRate: "1" }
`,
    )
    const app = await openDaprApp()
    const { daprd, emulator, subscribed } = await openOrders({
      daprd: { appPort: app.port, args: ['--config', traced] },
      env: {
        NODE_OPTIONS: `--disable-warning=ExperimentalWarning --import ${register}`,
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint,
      },
    })
    await daprd.ready()
    await subscribed()
    const answer = await fetch(`http://127.0.0.1:${daprd.httpPort}/v1.0/bindings/orders`, {
      method: 'POST',
      headers: { traceparent: traceparentOf('a') },
      body: JSON.stringify({ operation: 'create', data: { order: 1 } }),
    })
    expect(answer.ok).toBe(true)
    await emulator.settled()
    const [post] = await app.received('POST', 1)
    await collector.received('publish orders', 'process orders')

    const spanOf = (name: string) => collector.spans.find((span) => span.name === name)
    // daprd's own span, in the trace of the application that publishes, is what the event carries.
    expect(traceOf(JSON.parse(post?.body ?? '').traceparent)).toBe('a'.repeat(32))
    expect(spanOf('publish orders')?.links).toMatchObject([{ traceId: 'a'.repeat(32) }])
    expect(spanOf('process orders')?.links).toMatchObject([{ traceId: 'a'.repeat(32) }])
    // daprd's span of the input joins the process span.
    expect(traceOf(post?.headers.traceparent)).toBe(spanOf('process orders')?.traceId)
  },
)
