/**
 * Registers OpenTelemetry's SDK: each span goes at once to OTEL_EXPORTER_OTLP_ENDPOINT, http://localhost:4318 unless set.
 *
 *     npx node --import ./register.ts your-program.ts
 *     npx node --import ./register.ts node_modules/.bin/eventgrid-binding run --components components --app-port 8080
 */
import { context, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'

// So that a span is active in what it starts, also after an await.
context.setGlobalContextManager(new AsyncLocalStorageContextManager())
// A program for production takes a BatchSpanProcessor.
const spanProcessors = [new SimpleSpanProcessor({ exporter: new OTLPTraceExporter() })]
trace.setGlobalTracerProvider(new TracerProvider({ spanProcessors }))
