// All publisher limits: event and request size, queue, parallel requests, time-outs, retry pauses.

/** The bounds of a publisher; each may be narrowed. */
export interface PublisherLimits {
  /** Bytes of UTF-8 JSON one event may take as it is sent. Event Grid: post-to-custom-topic. @default 1_048_576 */
  readonly maxEventBytes: number
  /** Bytes the events of one request may take together, with the commas between them. @default 1_048_576 */
  readonly maxRequestBytes: number
  /** Events in one request. Event Grid: quotas-limits. @default 5_000 */
  readonly maxRequestEvents: number
  /** Events accepted and not yet settled, waiting ones and those under way. @default 100_000 */
  readonly maxQueuedEvents: number
  /** Bytes of those events. @default 67_108_864 (64 MiB) */
  readonly maxQueuedBytes: number
  /** Requests under way at once. A second one starts only when the waiting calls fill it. @default 4 */
  readonly maxRequests: number
  /** Milliseconds a call may take, waiting and retries included. @default 60_000 */
  readonly publishTimeoutMs: number
  /** Milliseconds a call may take while the host name of the topic does not exist. @default 10_000 */
  readonly noSuchHostTimeoutMs: number
  /** Milliseconds one request may take before it counts as lost. @default 30_000 */
  readonly attemptTimeoutMs: number
  /** Milliseconds `close` goes on publishing what is queued. @default 10_000 */
  readonly closeTimeoutMs: number
  /** Milliseconds the first back-off may take at most; it doubles with each attempt. @default 250 */
  readonly retryBaseMs: number
  /** Milliseconds any back-off may take at most, `Retry-After` apart. @default 10_000 */
  readonly retryCapMs: number
  /** Milliseconds of `Retry-After` that are honoured. @default 60_000 */
  readonly retryAfterCapMs: number
}

export const publisherDefaults: PublisherLimits = {
  maxEventBytes: 1_048_576,
  maxRequestBytes: 1_048_576,
  maxRequestEvents: 5_000,
  maxQueuedEvents: 100_000,
  maxQueuedBytes: 67_108_864,
  maxRequests: 4,
  publishTimeoutMs: 60_000,
  noSuchHostTimeoutMs: 10_000,
  attemptTimeoutMs: 30_000,
  closeTimeoutMs: 10_000,
  retryBaseMs: 250,
  retryCapMs: 10_000,
  retryAfterCapMs: 60_000,
}

/** The bounds of a namespace topic (Event Grid namespaces: quotas). */
export const namespaceDefaults: PublisherLimits = { ...publisherDefaults, maxRequestEvents: 1_000 }

/** Most metadata names of one call: far more than have a meaning. Each costs time, and a caller must not stop everybody else. */
export const maxMetadataNames = 1_000
