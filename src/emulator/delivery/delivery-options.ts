// Delivery options and defaults: `retrySchedule`, `deadLetterDelay`, `concurrency` 64, `maxPending`,
// `maxPendingBytes`.
import { type DeadLetterStore, deadLetterTimes, memoryDeadLetterStore } from '../records/dead-letter-box.ts'
import type { ProbationOptions } from './queue/probation.ts'
import type { StorageQueues } from './send/storage-queues.ts'

/**
 * Options of delivery that may differ from Event Grid. Without them the emulator delivers as Event Grid does.
 */
export interface DeliveryOptions {
  /**
   * Pauses before the second, third, ... attempt, in milliseconds; the last is repeated. They replace Event Grid's
   * schedule and its longer pauses after some statuses, so that a demo on the real clock sees a redelivery soon. @default 10 s,
   * 30 s, 1, 5, 10, 30 min, 1, 3, 6, 12 h
   */
  readonly retrySchedule?: readonly number[]
  /** Pause between the last attempt and dead-lettering, in milliseconds. @default 300_000 */
  readonly deadLetterDelay?: number
  /** Where dead-lettered events are written, in addition to the emulator's records. @default nowhere */
  readonly deadLetterStore?: DeadLetterStore
  /** Where events for storage queues are sent. @default nowhere: event subscriptions of storage queues get a warning */
  readonly storageQueues?: StorageQueues
  /**
   * Delayed delivery to endpoints that keep failing; `false` turns it off. @default on, unless `retrySchedule` is given
   */
  readonly probation?: ProbationOptions | false
  /** The maximum number of concurrent requests for one subscription. @default 64 */
  readonly concurrency?: number
  /** The maximum number of pending events; publishing more is answered 429 until some are delivered. @default 1_000_000 */
  readonly maxPending?: number
  /** The same in bytes of the events as they are delivered, each counted once. @default 268_435_456 (256 MiB) */
  readonly maxPendingBytes?: number
}

/** {@link DeliveryOptions} with all defaults. Without `retrySchedule` Event Grid's schedule applies. */
export type DeliverySettings = Required<Omit<DeliveryOptions, 'retrySchedule' | 'storageQueues'>> & {
  readonly retrySchedule: readonly number[] | undefined
  readonly storageQueues: StorageQueues | undefined
}

/** Fills in the defaults. Throws `RangeError` for an empty schedule or an invalid number. */
export function deliverySettings(options: DeliveryOptions = {}): DeliverySettings {
  const { retrySchedule } = options
  if (retrySchedule !== undefined && !isSchedule(retrySchedule)) {
    throw new RangeError('retrySchedule must be a list of at least one pause, in milliseconds')
  }
  const settings: DeliverySettings = {
    retrySchedule,
    deadLetterDelay: options.deadLetterDelay ?? deadLetterTimes.delayMs,
    deadLetterStore: options.deadLetterStore ?? memoryDeadLetterStore,
    storageQueues: options.storageQueues,
    probation: options.probation ?? (retrySchedule ? false : {}),
    concurrency: options.concurrency ?? 64,
    maxPending: options.maxPending ?? 1_000_000,
    maxPendingBytes: options.maxPendingBytes ?? 256 * 1024 * 1024,
  }
  const { concurrency, maxPending, maxPendingBytes, deadLetterDelay } = settings
  if (!(concurrency >= 1 && maxPending >= 1 && maxPendingBytes >= 1 && deadLetterDelay >= 0)) {
    throw new RangeError('concurrency, maxPending and maxPendingBytes must be at least 1, deadLetterDelay at least 0')
  }
  return settings
}

const isSchedule = (value: unknown): boolean =>
  Array.isArray(value) && value.length > 0 && value.every((pause) => Number.isFinite(pause) && pause >= 0)
