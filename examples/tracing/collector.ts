import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { z } from 'zod'

/** A span as OTLP sends it. */
const otlpSpan = z.object({
  traceId: z.string(),
  spanId: z.string(),
  parentSpanId: z.string().optional(),
  name: z.string(),
  startTimeUnixNano: z.coerce.bigint(),
  endTimeUnixNano: z.coerce.bigint(),
  links: z.array(z.object({ traceId: z.string(), spanId: z.string() })).default([]),
})

const otlpRequest = z.object({
  resourceSpans: z.array(z.object({ scopeSpans: z.array(z.object({ spans: z.array(otlpSpan) })) })),
})

/** A span that was received. */
export type CollectedSpan = z.infer<typeof otlpSpan>

/** Receives traces over OTLP (HTTP, JSON) on a free port of this machine, in place of a backend. */
export interface Collector {
  /** For OTEL_EXPORTER_OTLP_ENDPOINT. */
  readonly endpoint: string
  readonly spans: readonly CollectedSpan[]
  /** Resolves when a span of each name is there. */
  received(...names: readonly string[]): Promise<void>
  close(): void
}

/** Starts the receiver. */
export async function startCollector(): Promise<Collector> {
  const spans: CollectedSpan[] = []
  const watchers = new Set<() => void>()
  const server = createServer(async (request, response) => {
    const { resourceSpans } = otlpRequest.parse(await json(request))
    spans.push(...resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans)))
    response.setHeader('content-type', 'application/json').end('{}')
    for (const look of watchers) look()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // A listening TCP server has an address of this form.
  const { port } = server.address() as AddressInfo
  return {
    endpoint: `http://127.0.0.1:${port}`,
    spans,
    received: (...names) =>
      new Promise((resolve) => {
        const look = () => {
          if (!names.every((name) => spans.some((span) => span.name === name))) return
          watchers.delete(look)
          resolve()
        }
        watchers.add(look)
        look()
      }),
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}
