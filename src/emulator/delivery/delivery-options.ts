// Delivery options and defaults: `retrySchedule`, `deadLetterDelay`, `concurrency` 64, `maxPending`,
// `maxPendingBytes`.
import { type DeadLetterStore, deadLetterTimes, memoryDeadLetterStore } from '../records/dead-letter-box.ts'
import type { ProbationOptions } from './queue/probation.ts'
import type { StorageQueues } from './send/storage-queues.ts'

/** How the emulator delivers. Without these options it delivers as Event Grid does. */
export interface DeliverySettings {
  /** Pauses before the second, third, ... attempt, in milliseconds, in place of Event Grid's schedule. */
  readonly retrySchedule: readonly number[] | undefined
  /** Pause between the last attempt and dead-lettering, in milliseconds. */
  readonly deadLetterDelay: number
  readonly deadLetterStore: DeadLetterStore
  readonly storageQueues: StorageQueues | undefined
  /** Delayed delivery to endpoints that keep failing. */
  readonly probation: ProbationOptions | false
  /** The most requests under way for one subscription. */
  readonly concurrency: number
  /** The most pending events, and their most bytes, as they are delivered and each counted once. */
  readonly maxPending: number
  readonly maxPendingBytes: number
}

/** Fills in the defaults. Throws `RangeError` for an empty schedule or an invalid number. */
export function deliverySettings(options: Partial<DeliverySettings> = {}): DeliverySettings {
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
