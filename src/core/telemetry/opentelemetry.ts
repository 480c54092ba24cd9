/** The names of attributes and metrics of OpenTelemetry, their bounds, and the one guard around the host's SDK. */
import {
  type Attributes,
  type Context,
  context,
  createNoopMeter,
  type MeterProvider,
  metrics,
  ProxyTracerProvider,
  ROOT_CONTEXT,
  type Span,
  type SpanOptions,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import { cut } from '../../support/text/text.ts'
import { dropErrors } from '../../support/work/drop-errors.ts'
import { packageVersion } from '../package-version.ts'

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

export const bounded = (value: string): string => cut(value, maxValueLength)

/** A URI from outside as a value: without user, query and fragment, which may hold a secret. */
export function boundedUri(uri: string): string {
  return bounded(uri.replace(/[?#].*$/s, '').replace(/^([^/]*\/\/)[^/]*@/, '$1'))
}

/** `error.type` of a thrown value without a name (semantic conventions). */
export const otherError = '_OTHER'

const scope = 'eventgrid-binding'

// All calls into the SDK of the host are in this file and in trace-context.ts, guarded: an SDK that fails must fail nothing of ours.

/** The tracer of the SDK in this process; `undefined` without an SDK: then nothing is prepared for it. */
function tracer(): Tracer | undefined {
  const provider = trace.getTracerProvider()
  if (!(provider instanceof ProxyTracerProvider)) return provider.getTracer(scope, packageVersion())
  return provider.getDelegateTracer(scope, packageVersion())
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

export function addSpanEvent(span: Span, name: string, attributes: Attributes): void {
  dropErrors(() => span.addEvent(name, attributes))
}

export const activeContext = (): Context => dropErrors(() => context.active()) ?? ROOT_CONTEXT

/** A context with a span in it; the context itself without a span. */
export const withSpan = (parent: Context, span: Span | undefined): Context =>
  (span && dropErrors(() => trace.setSpan(parent, span))) ?? parent

/**
 * Calls a function in a context, once, whatever the host's context manager does. The argument is handed over, because a closure around it
 * would keep it for as long as what the function returns.
 */
export function runInContext<Argument, Result>(
  own: Context,
  work: (argument: Argument) => Result,
  argument: Argument,
): Result {
  let end: { readonly result: Result } | { readonly error: unknown } | undefined
  const once = (given: Argument) => {
    if (end) return
    try {
      end = { result: work(given) }
    } catch (error) {
      end = { error }
    }
  }
  dropErrors(() => context.with(own, once, undefined, argument))
  once(argument)
  return resultOf(end)
}

function resultOf<Result>(end: { readonly result: Result } | { readonly error: unknown } | undefined): Result {
  if (!end) throw new Error('a call in a context has not ended')
  if ('error' in end) throw end.error
  return end.result
}

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
  const meter = provider.getMeter(scope, packageVersion())
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
