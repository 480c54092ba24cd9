/** The publisher: takes calls of `create`, and ends each with a receipt or an error. */
import { randomUUID } from 'node:crypto'
import type { Endpoints } from '../core/endpoints.ts'
import { BindingError } from '../core/errors.ts'
import { createQuietLog, type Logger } from '../core/logger.ts'
import { hasTelemetry } from '../core/telemetry.ts'
import { isNamespaceTopic } from '../metadata/fields/addresses.ts'
import type { OutputMetadata } from '../metadata/typed/metadata.ts'
import { type SteadyClock, systemClock, within } from '../support/time/clock.ts'
import { toEvents } from './events.ts'
import { asBytes } from './payload.ts'
import {
  abortedError,
  addLoads,
  createCall,
  createRequestQueue,
  idsOf,
  type Load,
  loadOf,
  noLoad,
  type PublishCall,
  type PublishReceipt,
  takeLoad,
} from './queue.ts'
import { explainRejection, type FailedRequest, inDoubt } from './rejection.ts'
import { createSender, failureNow } from './sender.ts'
import { type CallTrace, createPublishTracing } from './telemetry.ts'
import { createTopicClient, publishUrl, type TopicClientOptions } from './topic.ts'

export interface PublishOptions {
  /** Attributes of an event made from data (docs/publishing.md). */
  readonly metadata?: Readonly<Record<string, string>>
  /** Cancels a call that waits. Once its request is sent, it only ends the wait. */
  readonly signal?: AbortSignal
}

export interface PublisherOptions {
  readonly output: OutputMetadata
  readonly credential?: TopicClientOptions['credential']
  readonly endpoints: Endpoints
  readonly logger: Logger
  readonly limits?: Partial<PublisherLimits>
  readonly clock?: SteadyClock
  /** From 0 up to 1: spreads retries. @default Math.random */
  readonly random?: () => number
}

/**
 * Makes a publisher. Nothing connects before the first `publish`.
 *
 * A call is sent at once if no request is under way. Calls that arrive meanwhile wait and share the next request. A
 * second request starts only when the waiting calls fill it.
 */
export function createPublisher(options: PublisherOptions) {
  const { output, credential, endpoints, logger, clock = systemClock } = options
  const bounds = isNamespaceTopic(output.topicEndpoint) ? namespaceDefaults : publisherDefaults
  const limits: PublisherLimits = { ...bounds, publishTimeoutMs: output.publishTimeoutMs, ...options.limits }
  const url = publishUrl(output.topicEndpoint)
  const explain = (call: PublishCall, failure: FailedRequest) =>
    explainRejection(failure, { output, attempts: call.attempts, sent: call.schema, ...idsOf(call) })
  const client = createTopicClient({ output, credential, endpoints, clock })
  const closing = new AbortController()
  const room = createQueueRoom(limits)
  const doubts = createQuietLog({ logger, clock })
  let closed: Promise<void> | undefined
  const tracing = createPublishTracing(url, limits.maxEventBytes)
  const sender = createSender({
    client,
    tracing,
    limits,
    clock,
    logger,
    random: options.random ?? Math.random,
    signal: closing.signal,
    explain,
  })
  const queue = createRequestQueue(limits, sender)

  const flush = async () => {
    await within(clock, limits.closeTimeoutMs, queue.idle())
    const open = queue.open()
    if (open.length > 0)
      logger.warn('closed before all events were published', { calls: open.length, events: room.held().events })
    for (const call of open) call.reject(closedError(call))
    closing.abort()
    client.close()
    await queue.idle()
    doubts.close()
  }

  const begin = (
    payload: unknown,
    { metadata, signal }: PublishOptions,
    callTrace: CallTrace | undefined,
  ): PublishCall => {
    if (closed) throw closedError()
    if (signal?.aborted) throw abortedError()
    // Before the text is parsed: a text has at least as many bytes as characters.
    const bytes = typeof payload === 'string' ? payload.length : (asBytes(payload)?.length ?? 0)
    room.refuseTooLarge({ events: 1, bytes })
    const given = toEvents(payload, metadata ?? {}, {
      topicSchema: output.topicSchema,
      defaultSource: `${url.origin}${url.pathname}`,
      maxEventBytes: limits.maxEventBytes,
      now: clock.now,
      newId: randomUUID,
    })
    const { events, context } = callTrace?.begin(given.events) ?? { events: given.events, context: undefined }
    const load = loadOf(events)
    room.reserve(load)
    const call = createCall({
      schema: given.schema,
      events,
      load,
      context,
      limits,
      clock,
      signal,
      explainTimeout: (late) => explain(late, failureNow(late, limits.publishTimeoutMs)),
      onGone: queue.remove,
      onSettled: ({ load: held }) => room.free(held),
    })
    queue.add(call)
    for (const { message, fields, word } of given.doubts) doubts.warn(message, fields, word)
    return call
  }

  return {
    /**
     * Publishes a payload: an event, several events, or data, which becomes an event.
     *
     * Events that were answered 429 or 5xx, or whose connection broke, are sent again until the call's time is over: an
     * event may be published twice. Order is kept within a call, not between calls.
     *
     * @throws BindingError PAYLOAD_INVALID, PAYLOAD_TOO_LARGE, OVERLOADED, PUBLISH_REJECTED, PUBLISH_UNAVAILABLE,
     *   CREDENTIALS_REJECTED, PERMISSION_DENIED, ABORTED or CLOSED; `details.ids` are the events not published
     */
    async publish(payload: unknown, options: PublishOptions = {}): Promise<PublishReceipt> {
      const callTrace = hasTelemetry() ? tracing.call() : undefined
      try {
        const { receipt } = begin(payload, options, callTrace)
        // Not awaited here: a function that waits would keep the payload.
        if (callTrace) receipt.then(() => callTrace.end(), callTrace.end)
        return receipt
      } catch (error) {
        callTrace?.end(error)
        throw error
      }
    },
    /** Resolves when no call waits and no request is under way. */
    settled: queue.idle,
    /** Why the last request failed; `undefined` after an accepted one. Faults of single events do not count. Safe to print. */
    lastFailure: sender.lastFailure,
    /** Rejects new calls, publishes queued ones for at most `closeTimeoutMs`, rejects the rest with CLOSED, and ends the connections. */
    close() {
      closed ??= flush()
      return closed
    },
  }
}

/** @param call one that is open still */
function closedError(call?: PublishCall): BindingError {
  const fix = 'publish through a new one'
  if (!call) return new BindingError('CLOSED', { what: 'the publisher is closed', fix })
  const what = 'the publisher closed before the topic had accepted the events'
  return new BindingError('CLOSED', { what, fix: fix + inDoubt, details: idsOf(call) })
}

/** The bounds of a publisher; each may be narrowed. */
export type PublisherLimits = Readonly<Record<keyof typeof publisherDefaults, number>>

export const publisherDefaults = {
  /** Bytes of UTF-8 JSON one event may take as it is sent. Event Grid: post-to-custom-topic. */
  maxEventBytes: 1_048_576,
  /** Bytes that the events of one request may take together, commas included. */
  maxRequestBytes: 1_048_576,
  /** Events in one request. Event Grid: quotas-limits. */
  maxRequestEvents: 5_000,
  /** Events that are accepted and not yet settled: they wait, or are under way. */
  maxQueuedEvents: 100_000,
  /** Bytes of those events: 64 MiB. */
  maxQueuedBytes: 67_108_864,
  /** Requests under way at once. A second request starts only when the waiting calls fill it. */
  maxRequests: 4,
  /** Milliseconds a call may take, waiting and retries included. */
  publishTimeoutMs: 60_000,
  /** Milliseconds a call may take while the host name of the topic does not exist. */
  noSuchHostTimeoutMs: 10_000,
  /** Milliseconds that one request may take before the request counts as lost. */
  attemptTimeoutMs: 30_000,
  /** Milliseconds `close` goes on publishing what is queued. */
  closeTimeoutMs: 10_000,
  /** Milliseconds that the first back-off takes at most. The back-off doubles with each attempt. */
  retryBaseMs: 250,
  /** Milliseconds any back-off may take at most, `Retry-After` apart. */
  retryCapMs: 10_000,
  /** Milliseconds of `Retry-After` that are honoured. */
  retryAfterCapMs: 60_000,
} as const

/** The bounds of a namespace topic (Event Grid namespaces: quotas). */
export const namespaceDefaults: PublisherLimits = { ...publisherDefaults, maxRequestEvents: 1_000 }

/** The room of the publish queue, in events and bytes. */
export function createQueueRoom({ maxQueuedEvents, maxQueuedBytes }: PublisherLimits) {
  let held = noLoad
  const exceeds = ({ events, bytes }: Load) => events > maxQueuedEvents || bytes > maxQueuedBytes

  /** @throws BindingError PAYLOAD_TOO_LARGE for a load that exceeds the whole room */
  function refuseTooLarge(load: Load): void {
    if (!exceeds(load)) return
    throw new BindingError('PAYLOAD_TOO_LARGE', {
      what: 'the payload is larger than the whole queue of the publisher',
      fix: `publish at most ${maxQueuedEvents} events and ${maxQueuedBytes} bytes in one call`,
    })
  }

  return {
    /** The load of all calls that are not settled. */
    held: () => held,
    refuseTooLarge,
    /** Reserves room. @throws BindingError PAYLOAD_TOO_LARGE, or OVERLOADED where other calls hold the room */
    reserve(load: Load): void {
      refuseTooLarge(load)
      const sum = addLoads(held, load)
      if (exceeds(sum)) {
        throw new BindingError('OVERLOADED', {
          what: `${held.events} events of ${held.bytes} bytes wait for the topic already`,
          fix: 'publish again later, or more slowly',
        })
      }
      held = sum
    },
    free(load: Load): void {
      held = takeLoad(held, load)
    },
  }
}
