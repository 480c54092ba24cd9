/** The names of attributes and metrics of OpenTelemetry, their bounds, and how the tracer is found. */
import {
  type Attributes,
  createNoopMeter,
  type MeterProvider,
  metrics,
  ProxyTracerProvider,
  type Span,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import { cut } from '../../support/text/text.ts'
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

/** The tracer of the SDK in this process; `undefined` without an SDK: then nothing is prepared for it. */
export function tracer(): Tracer | undefined {
  const provider = trace.getTracerProvider()
  if (!(provider instanceof ProxyTracerProvider)) return provider.getTracer(scope, packageVersion)
  return provider.getDelegateTracer(scope, packageVersion)
}

let made: { readonly provider: MeterProvider; readonly instruments: ReturnType<typeof createInstruments> } | undefined

/**
 * The instruments; `undefined` where the process has no SDK for metrics. They are made when they are used: an
 * instrument that is made before the SDK is there records nothing.
 */
export function instruments(): ReturnType<typeof createInstruments> {
  const provider = metrics.getMeterProvider()
  if (made?.provider !== provider) made = { provider, instruments: createInstruments(provider) }
  return made.instruments
}

function createInstruments(provider: MeterProvider) {
  const meter = provider.getMeter(scope, packageVersion)
  if (meter === createNoopMeter()) return undefined
  const advice = {
    explicitBucketBoundaries: [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10],
  }
  const seconds = (name: string, description: string) => meter.createHistogram(name, { description, unit: 's', advice })
  const messages = (name: string, description: string) => meter.createCounter(name, { description, unit: '{message}' })
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

/** Ends a span, with `error.type` after a failure. Without the error's message, which may hold data of an event. */
export function endSpan(span: Span | undefined, error: string | undefined): void {
  if (error !== undefined) span?.setAttributes(errorType(error)).setStatus({ code: SpanStatusCode.ERROR })
  span?.end()
}
