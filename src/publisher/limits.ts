/** The bounds of the publisher: sizes, the queue, parallel requests, time-outs and pauses. */

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
