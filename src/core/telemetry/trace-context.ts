/** Which `traceparent` and `tracestate` are valid, and how they become a span's context and come from one. */
import { createTraceState, isSpanContextValid, type Span, type SpanContext, trace } from '@opentelemetry/api'
import { dropErrors } from '../../support/work/drop-errors.ts'

/** The attributes of the CloudEvents extension for distributed tracing; the headers of W3C Trace Context have the same form. */
export interface TraceContext {
  readonly traceparent: string
  readonly tracestate?: string
}

/** Ids of zeros are invalid (W3C Trace Context, 3.2.2). A sidecar with tracing off sends them. */
const valid = /^(?!ff)([\da-f]{2})-((?!0{32})[\da-f]{32})-((?!0{16})[\da-f]{16})-([\da-f]{2})$/

/** Longest `tracestate` that is passed on (W3C Trace Context, 3.3.1.5). */
const maxTracestate = 512

/** Printable ASCII, as a header can hold it. */
const headerText = /^[\x20-\x7e]*$/

/** The trace context that an event, its headers or its metadata bring; `undefined` where they bring none, or an invalid one. */
export function readTraceContext(from: Readonly<Record<string, unknown>>): TraceContext | undefined {
  const { traceparent, tracestate } = from
  if (typeof traceparent !== 'string' || !valid.test(traceparent)) return undefined
  const keepsState = typeof tracestate === 'string' && tracestate !== '' && tracestate.length <= maxTracestate
  return keepsState && headerText.test(tracestate) ? { traceparent, tracestate } : { traceparent }
}

/** The span that a trace context names, to be linked to. */
export function remoteSpan({ traceparent, tracestate }: TraceContext): SpanContext {
  const [, , traceId = '', spanId = '', flags = '0'] = valid.exec(traceparent) ?? []
  return {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16),
    isRemote: true,
    ...(tracestate !== undefined && { traceState: createTraceState(tracestate) }),
  }
}

function contextOfSpan({ traceId, spanId, traceFlags, traceState }: SpanContext): TraceContext {
  const flags = (traceFlags & 0xff).toString(16).padStart(2, '0')
  const tracestate = traceState?.serialize()
  return { traceparent: `00-${traceId}-${spanId}-${flags}`, ...(tracestate && { tracestate }) }
}

/** The trace context of a span, the active one where none is given; `undefined` without a span, and where the host's SDK fails. */
export function traceContextOf(span?: Span): TraceContext | undefined {
  return dropErrors(() => {
    const found = (span ?? trace.getActiveSpan())?.spanContext()
    return found && isSpanContextValid(found) ? contextOfSpan(found) : undefined
  })
}
