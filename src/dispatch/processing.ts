/** The span and the metrics of each event, and which headers go with it to the application. */
import { type Attributes, type Context, ROOT_CONTEXT, SpanKind, trace } from '@opentelemetry/api'
import type { ReceivedEvent } from '../core/event.ts'
import {
  activeContext,
  attribute,
  bounded,
  boundedUri,
  endSpan,
  errorType,
  hasTelemetry,
  instruments,
  messagingSystem,
  runInContext,
  startSpan,
  withSpan,
} from '../core/telemetry/opentelemetry.ts'
import { readTraceContext, remoteSpan, type TraceContext, traceContextOf } from '../core/telemetry/trace-context.ts'
import { dropErrors } from '../support/work/drop-errors.ts'

/** What delivers events, as traces and metrics name it. */
export interface DeliverySource {
  readonly eventSubscriptionName: string
  /** The topic, or the resource whose events are delivered, where the scope names one. */
  readonly destination?: string | undefined
}

export interface Processing {
  /**
   * Calls a function in the context of the event. The argument is handed over, because a closure around an event would keep it until the
   * handler has ended.
   */
  run<Argument, Result>(work: (argument: Argument) => Result, argument: Argument): Result
  /** The handler has ended. Does nothing after a time-out, which ended it before. */
  end(error?: string): void
}

const untraced: Processing = { run: (work, argument) => work(argument), end() {} }

const operation = 'process'

/**
 * Begins the span `process {event subscription}`, which is active while `run` runs. To be called in the context of the delivery. Does
 * nothing without an SDK in the process.
 */
export function beginProcessing(event: ReceivedEvent, source: DeliverySource): Processing {
  if (!hasTelemetry()) return untraced
  const caller = callerContext()
  const common = commonAttributes(source)
  const origin = creationContext(event)
  const span = startSpan(
    `${operation} ${bounded(source.eventSubscriptionName)}`,
    {
      kind: SpanKind.CONSUMER,
      attributes: { ...common, ...eventAttributes(event) },
      links: origin ? [{ context: remoteSpan(origin) }] : [],
    },
    caller,
  )
  const own = withSpan(caller, span)
  const since = performance.now()
  // The handler may change the event.
  const { signal } = event
  let ended = false
  const end = (error?: string) => {
    if (ended) return
    ended = true
    signal.removeEventListener('abort', onTimeout)
    const attributes = { ...common, ...errorType(error) }
    instruments()?.processDuration.record((performance.now() - since) / 1000, attributes)
    instruments()?.consumedMessages.add(1, attributes)
    endSpan(span, error)
  }
  const onTimeout = () => end('timeout')
  signal.addEventListener('abort', onTimeout, { once: true })
  return { run: (work, argument) => runInContext(own, work, argument), end }
}

/**
 * The context that an event is handled in: the active one if its span is that of the request, else the root. A span
 * that was active when the listener was opened would otherwise be the parent of every event.
 */
function callerContext(): Context {
  const active = activeContext()
  const span = dropErrors(() => trace.getSpan(active))
  return span && 'kind' in span && span.kind === SpanKind.SERVER ? active : ROOT_CONTEXT
}

/** Counts events that no handler got, by the status of the answer. The events of a body that was not read count as one. */
export function countRefused(source: DeliverySource, status: number): void {
  instruments()?.consumedMessages.add(1, { ...commonAttributes(source), ...errorType(String(status)) })
}

type EventParts = Pick<ReceivedEvent, 'cloudEvent' | 'metadata'>

/** The trace context in which an event was made: the event's own, else that of its delivery. */
function creationContext({ cloudEvent, metadata }: EventParts): TraceContext | undefined {
  return readTraceContext(cloudEvent) ?? readTraceContext(metadata)
}

/** Dapr makes each a header of its request, whatever its name, so nothing else is passed on. */
const forwarded = /^aeg-(?!sas-)[\w-]+$/

/**
 * The part of an event's metadata that a program beside this one gets, with the trace context that its work belongs to:
 * that of the active span, else that of the event.
 */
export function forwardedMetadata(event: EventParts): Readonly<Record<string, string>> {
  const passed = Object.entries(event.metadata).filter(([name]) => forwarded.test(name))
  return { ...Object.fromEntries(passed), ...(traceContextOf() ?? creationContext(event)) }
}

function commonAttributes({ eventSubscriptionName, destination }: DeliverySource): Attributes {
  return {
    [attribute.system]: messagingSystem,
    [attribute.operationName]: operation,
    [attribute.operationType]: operation,
    [attribute.eventSubscription]: bounded(eventSubscriptionName),
    ...(destination !== undefined && { [attribute.destination]: bounded(destination) }),
  }
}

function eventAttributes({ cloudEvent: { id, source, type }, metadata }: ReceivedEvent): Attributes {
  const count = Number(metadata['aeg-delivery-count'] ?? Number.NaN)
  return {
    [attribute.messageId]: bounded(id),
    [attribute.eventId]: bounded(id),
    [attribute.eventSource]: boundedUri(source),
    [attribute.eventType]: bounded(type),
    ...(Number.isInteger(count) && { [attribute.deliveryCount]: count }),
  }
}
