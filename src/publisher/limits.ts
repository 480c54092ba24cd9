/** The bounds of the publisher (sizes, the queue, parallel requests, time-outs and pauses), and the room of its queue. */
import { BindingError } from '../core/errors.ts'

/** The bounds of a publisher; each may be narrowed. */
export type PublisherLimits = Readonly<Record<keyof typeof publisherDefaults, number>>

export const publisherDefaults = {
  /** Bytes of UTF-8 JSON one event may take as it is sent. Event Grid: post-to-custom-topic. */
  maxEventBytes: 1_048_576,
  /** Bytes the events of one request may take together, with the commas between them. */
  maxRequestBytes: 1_048_576,
  /** Events in one request. Event Grid: quotas-limits. */
  maxRequestEvents: 5_000,
  /** Events accepted and not yet settled, waiting ones and those under way. */
  maxQueuedEvents: 100_000,
  /** Bytes of those events: 64 MiB. */
  maxQueuedBytes: 67_108_864,
  /** Requests under way at once. A second one starts only when the waiting calls fill it. */
  maxRequests: 4,
  /** Milliseconds a call may take, waiting and retries included. */
  publishTimeoutMs: 60_000,
  /** Milliseconds a call may take while the host name of the topic does not exist. */
  noSuchHostTimeoutMs: 10_000,
  /** Milliseconds one request may take before it counts as lost. */
  attemptTimeoutMs: 30_000,
  /** Milliseconds `close` goes on publishing what is queued. */
  closeTimeoutMs: 10_000,
  /** Milliseconds the first back-off may take at most; it doubles with each attempt. */
  retryBaseMs: 250,
  /** Milliseconds any back-off may take at most, `Retry-After` apart. */
  retryCapMs: 10_000,
  /** Milliseconds of `Retry-After` that are honoured. */
  retryAfterCapMs: 60_000,
} as const

/** The bounds of a namespace topic (Event Grid namespaces: quotas). */
export const namespaceDefaults: PublisherLimits = { ...publisherDefaults, maxRequestEvents: 1_000 }

/** Most metadata names of one call: far more than have a meaning. Each costs time, and a caller must not stop everybody else. */
export const maxMetadataNames = 1_000

export type RequestBounds = Pick<PublisherLimits, 'maxRequestBytes' | 'maxRequestEvents'>

/** The load of one event, or of all events of a call. */
export interface Load {
  readonly events: number
  /** Bytes of UTF-8 JSON, with the commas between the events. */
  readonly bytes: number
}

export const noLoad: Load = { events: 0, bytes: 0 }

/** Both loads in one request: a comma joins them. Only the first may be of no event. */
export function addLoads(one: Load, other: Load): Load {
  if (one.events === 0) return other
  return { events: one.events + other.events, bytes: one.bytes + 1 + other.bytes }
}

/** Does a load fit into one request? The brackets do not count, so that an event of the maximum size fits. */
export function fits(load: Load, bounds: RequestBounds): boolean {
  return load.events <= bounds.maxRequestEvents && load.bytes <= bounds.maxRequestBytes
}

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
    take(load: Load): void {
      refuseTooLarge(load)
      const sum = { events: held.events + load.events, bytes: held.bytes + load.bytes }
      if (exceeds(sum)) {
        throw new BindingError('OVERLOADED', {
          what: `${held.events} events of ${held.bytes} bytes wait for the topic already`,
          fix: 'publish again later, or more slowly',
        })
      }
      held = sum
    },
    release(load: Load): void {
      held = { events: held.events - load.events, bytes: held.bytes - load.bytes }
    },
  }
}
