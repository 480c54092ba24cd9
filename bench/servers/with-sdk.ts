// Loaded before a server, by `--import`: OpenTelemetry's SDK as an application has it. It makes every span and every
// metric, batches them, and throws them away.
import { context, metrics, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { AggregationTemporality, MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics'
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'

const nothing = {
  export: (_batch: unknown, done: (result: { code: number }) => void) => done({ code: 0 }),
  forceFlush: async () => {},
  shutdown: async () => {},
}
context.setGlobalContextManager(new AsyncLocalStorageContextManager())
trace.setGlobalTracerProvider(new TracerProvider({ spanProcessors: [new BatchSpanProcessor({ exporter: nothing })] }))
const exporter = { ...nothing, selectAggregationTemporality: () => AggregationTemporality.CUMULATIVE }
metrics.setGlobalMeterProvider(new MeterProvider({ readers: [new PeriodicExportingMetricReader({ exporter })] }))
