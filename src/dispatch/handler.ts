/** One call of the application's handler, with its span and metrics; and how the calls of the last two minutes ended, for health. */

import { type Attributes, type Context, ROOT_CONTEXT, SpanKind, trace } from '@opentelemetry/api'
import type { ErrorHandler, EventHandler, ReceivedEvent } from '../core/event.ts'
import {
  activeContext,
  attribute,
  bounded,
  boundedUri,
  dropErrors,
  endSpan,
  errorType,
  hasTelemetry,
  instruments,
  messagingSystem,
  readTraceContext,
  remoteSpan,
  runInContext,
  startSpan,
  type TraceContext,
  traceContextOf,
  withSpan,
} from '../core/telemetry.ts'
import type { SteadyClock } from '../support/time/clock.ts'
import { type FailureLog, failedResult, logFailure, readThrown } from './result.ts'

/** The application's handler, which may be replaced at any time: it is looked up for each event. */
export interface CurrentHandler {
  readonly current: EventHandler | undefined
  /** A handler was attached and has been taken away: the application has gone. @default false */
  readonly isLost?: boolean
}

/** How a handler call ended. */
export type CallOutcome = 'resolved' | 'rejected' | 'threw'

export interface HandlerReports extends DeliverySource, FailureLog {
  /** @default none */
  readonly onError?: ErrorHandler | undefined
}

/**
 * Calls the handler with one event, in the context of the delivery. `onEnd` is called once, before this function returns if the handler
 * returns nothing: an event of a synchronous handler costs no promise.
 *
 * @param again creates the event again for `onError`: the handler may have changed the first one, and a second parsed event would take
 *   memory during the call
 */
export function callHandler(
  handler: EventHandler,
  event: ReceivedEvent,
  again: () => ReceivedEvent,
  reports: HandlerReports,
  onEnd: (outcome: CallOutcome) => void,
): void {
  const { id } = event.cloudEvent
  const { signal } = event
  const processing = beginProcessing(event, reports)
  const report = (error: unknown) => {
    const { onError } = reports
    if (onError) processing.run(() => dropErrors(() => onError(error, again())), undefined)
  }
  const resolve = () => {
    processing.end()
    // The signal was not heard, or obeyed by a return: the event counts as not handled.
    if (signal.aborted) report(signal.reason)
    onEnd('resolved')
  }
  const fail = (error: unknown) => {
    const thrown = readThrown(error)
    processing.run(() => logFailure({ id, error, thrown, isLate: signal.aborted }, reports), undefined)
    report(error)
    processing.end(thrown.type)
    onEnd(thrown.rejected ? 'rejected' : 'threw')
  }
  let result: unknown
  try {
    result = processing.run(handler, event)
  } catch (error) {
    fail(error)
    return
  }
  if (result === undefined) resolve()
  else void settle(result, resolve, fail)
}

/** `await` makes a failure of an object whose `then` throws when it is read. */
async function settle(result: unknown, resolve: () => void, fail: (error: unknown) => void): Promise<void> {
  try {
    const returned = await result
    const failed = returned === undefined ? undefined : failedResult(returned)
    if (failed) throw new TypeError(`the handler returned ${failed.what}`, { cause: failed.cause })
  } catch (error) {
    fail(error)
    return
  }
  resolve()
}

/** The event subscription and its source, as traces and metrics name them. */
export interface DeliverySource {
  readonly eventSubscriptionName: string
  /** The topic, or the resource whose events are delivered, where the scope names one. */
  readonly destination?: string | undefined
}

interface Processing {
  /**
   * Calls a function in the context of the event. The argument is handed over, because a closure around an event would keep the event in
   * memory until the handler has ended.
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
function beginProcessing(event: ReceivedEvent, source: DeliverySource): Processing {
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
 * The context that an event is handled in: the active context if its span belongs to the request, else the root. A span
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

/** The trace context in which an event was made: the event's own, else the trace context of its delivery. */
function creationContext({ cloudEvent, metadata }: EventParts): TraceContext | undefined {
  return readTraceContext(cloudEvent) ?? readTraceContext(metadata)
}

const ofEventGrid = /^aeg-(?!sas-)[\w-]+$/

/** Headers that are about the request or connection that they stand in. */
const ofRequest = /^(?:connection|content-.*|expect|host|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade)$/

/**
 * The part of an event's metadata that an application beside this process gets: `aeg-*`, the declared delivery attributes, and a trace
 * context, which is the active span's, else the event's. Dapr makes a header of each entry, whatever its name, so an attribute whose name
 * is about the request itself is left out.
 */
export function forwardedMetadata(
  event: EventParts & Pick<ReceivedEvent, 'attributes'>,
): Readonly<Record<string, string>> {
  const { metadata, attributes = [] } = event
  const isDeclared = (name: string) => attributes.includes(name) && !ofRequest.test(name)
  const passed = Object.entries(metadata).filter(([name]) => ofEventGrid.test(name) || isDeclared(name))
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

export interface Handling {
  /** Handler calls. A bad call failed, or did not end in time. */
  readonly recent: RecentCounts
  /** Each call that there is room for has run longer than its time limit, and has not ended: no event gets a call. */
  readonly allHang: boolean
}

export interface RecentCounts {
  /** Of the last two minutes, as `bad`. */
  readonly total: number
  readonly bad: number
  /** The last that were bad, with no good one since, however long ago. */
  readonly badInARow: number
  /** Milliseconds since the last; infinite before the first. */
  readonly quietMs: number
}

const windowSeconds = 120

export function createRecentCounts(clock: Pick<SteadyClock, 'elapsed'>) {
  /** By second, the oldest first. */
  const seconds: { readonly second: number; total: number; bad: number }[] = []
  let badInARow = 0
  let lastAt = Number.NEGATIVE_INFINITY

  function present(): number {
    const second = Math.floor(clock.elapsed() / 1_000)
    while (seconds[0] !== undefined && seconds[0].second <= second - windowSeconds) seconds.shift()
    return second
  }

  return {
    current(): RecentCounts {
      present()
      let [total, bad] = [0, 0]
      for (const one of seconds) {
        total += one.total
        bad += one.bad
      }
      return { total, bad, badInARow, quietMs: clock.elapsed() - lastAt }
    },
    add(isBad: boolean): void {
      const second = present()
      badInARow = isBad ? badInARow + 1 : 0
      lastAt = clock.elapsed()
      const last = seconds.at(-1)
      const bad = isBad ? 1 : 0
      if (last?.second !== second) seconds.push({ second, total: 1, bad })
      else {
        last.total++
        last.bad += bad
      }
    },
  }
}
