// Loaded before a server, by `--import`: OpenTelemetry's SDK as an application has it. It makes every span and every
// metric, batches them, and throws them away.
import { metrics } from '@opentelemetry/api'
import { AggregationTemporality, MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics'
import { BatchSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { NodeTracerProvider } from '@opentelemetry/sdk-trace-node'

const nothing = {
  export: (_batch: unknown, done: (result: { code: number }) => void) => done({ code: 0 }),
  forceFlush: async () => {},
  shutdown: async () => {},
}
new NodeTracerProvider({ spanProcessors: [new BatchSpanProcessor(nothing)] }).register()
const exporter = { ...nothing, selectAggregationTemporality: () => AggregationTemporality.CUMULATIVE }
metrics.setGlobalMeterProvider(new MeterProvider({ readers: [new PeriodicExportingMetricReader({ exporter })] }))
