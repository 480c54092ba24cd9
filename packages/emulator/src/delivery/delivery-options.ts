// What deliveries need of the emulator, and their settings with defaults: `answerTimeout`, `retrySchedule`, `deadLetterDelay`,
// `concurrency` 64, `maxPending`, `maxPendingBytes`.
import { type DeadLetterStore, deadLetterDelayMs, memoryDeadLetterStore } from '../dead-letters/write-dead-letters.ts'
import type { TokenIssuer } from '../entra/token-issuer.ts'
import { type PendingBound, partOfHeap } from '../model/held-bytes.ts'
import type { Store } from '../model/resources/store.ts'
import type { Clock } from '../model/time/clock.ts'
import type { WorkCounter } from '../model/time/work-counter.ts'
import type { TrailWriter } from '../records/event-fate.ts'
import type { Records } from '../records/record-types.ts'
import type { Faults } from '../server/faults.ts'
import type { Journal, JournalEntry } from '../state/journal.ts'
import { manualValidationMs } from './handshake/handshake.ts'
import type { ProbationOptions } from './queue/retry-schedule.ts'
import type { FunctionsHosts } from './send/functions.ts'
import type { Ingress } from './send/ingress.ts'
import type { BrokerOptions } from './send/message-brokers.ts'
import type { StorageQueues } from './send/storage-queues.ts'

/** The parts of the emulator that deliveries use. */
export interface DeliveryOptions {
  readonly clock: Clock
  /** From 0 to just under 1; for jitter. */
  readonly random: () => number
  readonly settings: DeliverySettings
  readonly work: WorkCounter
  readonly store: Store
  readonly journal: Journal
  readonly bound: PendingBound
  readonly records: Records
  readonly trail?: TrailWriter
  readonly faults: Faults
  readonly tokens: Pick<TokenIssuer, 'issueDeliveryToken'>
  /** Version of the Entra tokens that deliveries carry. */
  readonly deliveryTokenVersion: '1.0' | '2.0'
  readonly ingress: Ingress
  /** PEM; trusted in addition to Node's own. Other certificates are refused, self-signed ones too. */
  readonly trustedCertificates: readonly string[]
  /** `https://127.0.0.1:{port}`, without a trailing slash. Known once the server listens, hence a function. */
  readonly baseUrl: () => string
  /** Takes a persisted event of a Queue event subscription; false for any other. */
  readonly restoreElsewhere?: (entry: JournalEntry) => boolean
}

/** Event Grid waits this long for an answer (delivery-and-retry), in milliseconds. */
export const answerTimeoutMs = 30_000

/** How the emulator delivers. Without these options it delivers as Event Grid does. */
export interface DeliverySettings {
  /** How long an endpoint may take for its answer to a handshake or a delivery, in real milliseconds whatever the clock. */
  readonly answerTimeout: number
  /** Pauses before the second, third, ... attempt, in milliseconds, in place of Event Grid's schedule. */
  readonly retrySchedule: readonly number[] | undefined
  /** How long a validation URL is valid, in milliseconds. */
  readonly manualValidationTimeout: number
  /** Pause between the last attempt and dead-lettering, in milliseconds. */
  readonly deadLetterDelay: number
  readonly deadLetterStore: DeadLetterStore
  readonly storageQueues: StorageQueues | undefined
  readonly functions: FunctionsHosts
  readonly serviceBus: readonly BrokerOptions[]
  readonly eventHubs: readonly BrokerOptions[]
  /** Delayed delivery to endpoints that keep failing. */
  readonly probation: ProbationOptions | false
  /** The most requests under way for one subscription. */
  readonly concurrency: number
  /** The most pending events, and the most bytes of memory that they hold. */
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
    answerTimeout: options.answerTimeout ?? answerTimeoutMs,
    retrySchedule,
    manualValidationTimeout: options.manualValidationTimeout ?? manualValidationMs,
    deadLetterDelay: options.deadLetterDelay ?? deadLetterDelayMs,
    deadLetterStore: options.deadLetterStore ?? memoryDeadLetterStore,
    storageQueues: options.storageQueues,
    functions: options.functions ?? [],
    serviceBus: options.serviceBus ?? [],
    eventHubs: options.eventHubs ?? [],
    probation: options.probation ?? (retrySchedule ? false : {}),
    concurrency: options.concurrency ?? 64,
    maxPending: options.maxPending ?? 1_000_000,
    maxPendingBytes: options.maxPendingBytes ?? Math.min(256 * 1024 * 1024, partOfHeap(0.25)),
  }
  const { concurrency, maxPending, maxPendingBytes, deadLetterDelay, manualValidationTimeout } = settings
  if (!(concurrency >= 1 && maxPending >= 1 && maxPendingBytes >= 1)) {
    throw new RangeError('concurrency, maxPending and maxPendingBytes must be at least 1')
  }
  if (!(deadLetterDelay >= 0 && manualValidationTimeout >= 0)) {
    throw new RangeError('deadLetterDelay and manualValidationTimeout must be at least 0')
  }
  return settings
}

const isSchedule = (value: unknown): boolean =>
  Array.isArray(value) && value.length > 0 && value.every((pause) => Number.isFinite(pause) && pause >= 0)
