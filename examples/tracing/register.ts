/**
 * Registers OpenTelemetry's SDK: each span goes at once to OTEL_EXPORTER_OTLP_ENDPOINT, http://localhost:4318 unless set.
 *
 *     node --import ./register.ts your-program.ts
 *     NODE_OPTIONS='--import ./register.ts' npx eventgrid-binding run --components components --app-port 8080
 */
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { NodeTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node'

// A program for production takes a BatchSpanProcessor.
new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(new OTLPTraceExporter())] }).register()
