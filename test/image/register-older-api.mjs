// An SDK with version 1.9 of OpenTelemetry's API, as SDK 2 has it: tells the name of each span on stderr.
import { trace } from 'opentelemetry-api-1.9'

const noSpan = trace.getTracer('none').startSpan('none')
const startSpan = (name) => {
  process.stderr.write(`a span: ${name}\n`)
  return noSpan
}
const startActiveSpan = (name, ...rest) => rest.at(-1)(startSpan(name))
trace.setGlobalTracerProvider({ getTracer: () => ({ startSpan, startActiveSpan }) })
