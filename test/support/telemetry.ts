import { type Attributes, context, metrics, type SpanContext, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { type DataPoint, type Histogram, MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics'
import { InMemorySpanExporter, type ReadableSpan, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import { onTestFinished } from 'vitest'

/** One value of a metric: the count of a histogram, the sum of a counter. */
export interface Measured {
  readonly attributes: Attributes
  readonly value: number
}

/** OpenTelemetry's SDK in this process until the test ends. */
export interface Telemetry {
  /** Spans that have ended, oldest first. */
  spans(name?: string | RegExp): readonly ReadableSpan[]
  /** The one span of a name. */
  span(name: string | RegExp): ReadableSpan
  metric(name: string): Promise<readonly Measured[]>
  /** Every attribute of every span, link, event and metric, as one text. */
  text(): Promise<string>
}

class Reader extends MetricReader {
  override async onForceFlush() {}
  override async onShutdown() {}
}

/** Registers the SDK with exporters in memory, as an application does. */
export function startTelemetry(): Telemetry {
  const exporter = new InMemorySpanExporter()
  const reader = new Reader()
  context.setGlobalContextManager(new AsyncLocalStorageContextManager())
  trace.setGlobalTracerProvider(new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] }))
  metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }))
  onTestFinished(() => {
    for (const api of [trace, metrics, context]) api.disable()
  })
  const spans: Telemetry['spans'] = (name = /.*/) =>
    exporter.getFinishedSpans().filter((span) => (typeof name === 'string' ? span.name === name : name.test(span.name)))
  const collect = async () => (await reader.collect()).resourceMetrics.scopeMetrics.flatMap((scope) => scope.metrics)
  return {
    spans,
    span(name) {
      const found = spans(name)
      const [only] = found
      if (!only || found.length > 1) throw new Error(`${found.length} spans match ${name}`)
      return only
    },
    async metric(name) {
      const found = (await collect()).find(({ descriptor }) => descriptor.name === name)
      return (found?.dataPoints ?? []).map((point) => ({ attributes: point.attributes, value: numberOf(point) }))
    },
    async text() {
      const shown = spans().map(({ name, attributes, links, events, status }) => ({
        name,
        attributes,
        links,
        events,
        status,
      }))
      return JSON.stringify([shown, await collect()])
    },
  }
}

function numberOf({ value }: DataPoint<number | Histogram> | DataPoint<unknown>): number {
  if (typeof value === 'number') return value
  if (typeof value === 'object' && value !== null && 'count' in value && typeof value.count === 'number')
    return value.count
  throw new Error('a value of another form')
}

/** The ids of a span, as a link or a child names them. */
export const idsOf = ({ traceId, spanId }: SpanContext) => ({ traceId, spanId })

/** `traceparent` of a made-up span: `digit` tells one from another. */
export const traceparentOf = (digit: string) => `00-${digit.repeat(32)}-${digit.repeat(16)}-01`
