/** OpenTelemetry: names of attributes and metrics, trace contexts, and the one guard around the code of the host. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { types } from 'node:util'
import {
  type Attributes,
  type Context,
  context,
  createNoopMeter,
  createTraceState,
  isSpanContextValid,
  type MeterProvider,
  metrics,
  ProxyTracerProvider,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  type SpanOptions,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import { cut } from '../support/text/text.ts'
import { inBackground } from '../support/work/work.ts'
import { packageVersion } from './versions.ts'

/**
 * Names of attributes, from OpenTelemetry's semantic conventions for messaging and CloudEvents. They are copied, because the conventions
 * are still in development and their package tells libraries to copy them. The names that begin with `eventgrid.` are ours.
 */
export const attribute = {
  system: 'messaging.system',
  operationName: 'messaging.operation.name',
  operationType: 'messaging.operation.type',
  destination: 'messaging.destination.name',
  eventSubscription: 'messaging.destination.subscription.name',
  batchCount: 'messaging.batch.message_count',
  messageId: 'messaging.message.id',
  eventId: 'cloudevents.event_id',
  eventSource: 'cloudevents.event_source',
  eventType: 'cloudevents.event_type',
  serverAddress: 'server.address',
  serverPort: 'server.port',
  errorType: 'error.type',
  /** `aeg-delivery-count`: 0 at the first delivery. */
  deliveryCount: 'eventgrid.delivery_count',
  /** What was done with the event subscription. */
  upsertAction: 'eventgrid.upsert.action',
} as const

/** The registered value of {@link attribute.system}. */
export const messagingSystem = 'eventgrid'

/** Longest value of an attribute that comes from outside, in UTF-16 code units. */
const maxValueLength = 255

/** A text from outside as a value. Always well-formed: a collector refuses the whole export for one text that is not UTF-8. */
export const bounded = (value: string): string => cut(value, maxValueLength).toWellFormed()

/** A URI from outside as a value: without user, query and fragment, which may hold a secret. */
export function boundedUri(uri: string): string {
  return bounded(uri.replace(/[?#].*$/s, '').replace(/^([^/]*\/\/)[^/]*@/, '$1'))
}

/** `error.type` of a thrown value without a name (semantic conventions). */
export const otherError = '_OTHER'

const scope = 'eventgrid-binding'

// All spans and instruments are made and ended in this file, guarded: a span processor of the host that fails must fail nothing of ours.

/** The tracer of the SDK in this process; `undefined` without an SDK: then no span is prepared. */
function tracer(): Tracer | undefined {
  const provider = trace.getTracerProvider()
  if (!(provider instanceof ProxyTracerProvider)) return provider.getTracer(scope, packageVersion)
  return provider.getDelegateTracer(scope, packageVersion)
}

/** Whether the process has an SDK, for traces or metrics. */
export const hasTelemetry = (): boolean => dropErrors(tracer) !== undefined || instruments() !== undefined

/** Starts a span, in the active context where no other is given. `undefined` without an SDK for traces. */
export function startSpan(name: string, options: SpanOptions, parent?: Context): Span | undefined {
  return dropErrors(() => tracer()?.startSpan(name, options, parent))
}

/** Ends a span, with `error.type` after a failure. Without the error's message, which may hold data of an event. */
export function endSpan(span: Span | undefined, error: string | undefined, attributes: Attributes = {}): void {
  if (!span) return
  dropErrors(() => span.setAttributes({ ...attributes, ...errorType(error) }))
  if (error !== undefined) dropErrors(() => span.setStatus({ code: SpanStatusCode.ERROR }))
  dropErrors(() => span.end())
}

export const activeContext = (): Context => context.active()

/** A context with a span in it; the context itself without a span. */
export const withSpan = (parent: Context, span: Span | undefined): Context =>
  (span && dropErrors(() => trace.setSpan(parent, span))) ?? parent

/**
 * Calls a function in a context. The argument is passed separately: a closure would keep the argument in memory as long as the
 * result of the function.
 */
export const runInContext = <Argument, Result>(
  own: Context,
  work: (argument: Argument) => Result,
  argument: Argument,
): Result => context.with(own, work, undefined, argument)

const whenLoaded = AsyncLocalStorage.snapshot()

/**
 * Calls a function outside of the asynchronous context of the caller, in that of whoever loaded this package, without a span: what the
 * function starts must not see the stores of the caller.
 */
export const outsideOfCaller = <Result>(work: () => Result): Result =>
  whenLoaded(() => runInContext(ROOT_CONTEXT, work, undefined))

let made: { readonly provider: MeterProvider; readonly instruments: ReturnType<typeof createInstruments> } | undefined

/**
 * The instruments; `undefined` where the process has no SDK for metrics. They are made when they are used: an
 * instrument that is made before the SDK is there records nothing.
 */
export function instruments(): ReturnType<typeof createInstruments> {
  const provider = metrics.getMeterProvider()
  if (made?.provider !== provider) made = { provider, instruments: dropErrors(() => createInstruments(provider)) }
  return made.instruments
}

function createInstruments(provider: MeterProvider) {
  const meter = provider.getMeter(scope, packageVersion)
  if (meter === createNoopMeter()) return undefined
  const advice = {
    explicitBucketBoundaries: [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10],
  }
  const seconds = (name: string, description: string) => {
    const histogram = meter.createHistogram(name, { description, unit: 's', advice })
    return {
      record: (value: number, attributes?: Attributes) => void dropErrors(() => histogram.record(value, attributes)),
    }
  }
  const messages = (name: string, description: string) => {
    const counter = meter.createCounter(name, { description, unit: '{message}' })
    return { add: (value: number, attributes?: Attributes) => void dropErrors(() => counter.add(value, attributes)) }
  }
  return {
    processDuration: seconds('messaging.process.duration', 'Duration of handling one event'),
    operationDuration: seconds('messaging.client.operation.duration', 'Duration of one request to Event Grid'),
    sentMessages: messages('messaging.client.sent.messages', 'Events that were published, or failed to be'),
    consumedMessages: messages('messaging.client.consumed.messages', 'Events that were delivered, or refused'),
  }
}

/** An attribute that is there only after a failure. */
export const errorType = (type: string | undefined): Attributes =>
  type === undefined ? {} : { [attribute.errorType]: bounded(type) }

/** The attributes of the CloudEvents extension for distributed tracing; the headers of W3C Trace Context have the same form. */
export interface TraceContext {
  readonly traceparent: string
  readonly tracestate?: string
}

/** Ids of zeros are invalid (W3C Trace Context, 3.2.2). A sidecar with tracing off sends them. */
const valid = /^(?!ff)([\da-f]{2})-((?!0{32})[\da-f]{32})-((?!0{16})[\da-f]{16})-([\da-f]{2})$/

/** Longest `tracestate` that is passed on (W3C Trace Context, 3.3.1.5). */
const maxTracestate = 512

/** Printable ASCII, which a header can hold. */
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

/** Gives what the work returned; `undefined` where it threw. */
export function dropErrors<Result>(work: () => Result): Result | undefined {
  try {
    const result = work()
    // An async function fits where its result is not looked at.
    if (types.isPromise(result)) inBackground(result, () => {})
    return result
  } catch {
    return undefined
  }
}
