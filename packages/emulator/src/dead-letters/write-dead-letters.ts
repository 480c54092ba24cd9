/** When dead letters are written, in which blobs, and when they are dropped. */
import { randomUUID } from 'node:crypto'
import type { BlobServiceClient } from '@azure/storage-blob'
import { codeOf, messageOf } from '../../../../src/support/process/error-code.ts'
import { requirePackage } from '../../../../src/support/process/require-package.ts'
import { realTimers } from '../../../../src/support/time/clock.ts'
import { type EventText, textOf } from '../model/events/event-text.ts'
import type { DeadLetterDestination } from '../model/resources/destination.ts'
import type { CancelTimer, Clock } from '../model/time/clock.ts'
import { DueQueue } from '../model/time/due-queue.ts'
import type { WorkCounter } from '../model/time/work-counter.ts'
import type { Records } from '../records/record-types.ts'
import { shownText } from '../records/shown-request.ts'

/** Where dead-lettered events are written: a blob container, or something like one. */
export interface DeadLetterStore {
  /** Writes one blob; rejects if the store is unavailable, then Event Grid tries again. `path` is inside the container. */
  write(blob: {
    readonly storageAccountId: string
    readonly container: string
    readonly path: string
    readonly content: string
  }): Promise<void>
}

/** Records what can't be written among the warnings. */
export const warningsTo =
  (warnings: Records['warnings'], clock: Clock): DeadLetterWriterOptions['warn'] =>
  ({ id, name }, message) =>
    warnings.push({ at: clock.now(), subscriptionId: id, subscriptionName: name, message })

/** A store that writes nothing: the emulator's records show the dead-lettered events. */
export const memoryDeadLetterStore: DeadLetterStore = { write: async () => {} }

const minuteMs = 60_000
const hourMs = 60 * minuteMs

/** When a store that fails is tried again, and for how long, in milliseconds. */
export interface DeadLetterRetries {
  /** The pauses; the last one repeats. */
  readonly pausesMs: readonly number[]
  readonly giveUpMs: number
}

/** Between the last try of an event and its dead-letter, in milliseconds (Event Grid: delivery-and-retry). */
export const deadLetterDelayMs = 5 * minuteMs

/** Of topics, domains and system topics (Event Grid: delivery-and-retry). */
export const deadLetterRetries: DeadLetterRetries = { pausesMs: [5 * minuteMs], giveUpMs: 4 * hourMs }

/** Of namespaces (Event Grid: dead-letter-event-subscriptions-namespace-topics, 2023). */
export const namespaceDeadLetterRetries: DeadLetterRetries = {
  pausesMs: [10_000, minuteMs, 5 * minuteMs],
  giveUpMs: 48 * hourMs,
}

const waitsBecause = (container: string, error: unknown, { pausesMs, giveUpMs }: DeadLetterRetries) =>
  `Its dead letters can't be written to the container ${container}: ${reasonOf(error)}. The emulator tries again, ` +
  `in the end every ${(pausesMs.at(-1) ?? 0) / minuteMs} minutes, and drops them after ${giveUpMs / hourMs} hours.`

/** A code of the storage account says more, and on one line. */
function reasonOf(error: unknown): string {
  const code = codeOf(error)
  if (code === 'ContainerNotFound') return 'it does not exist, and Event Grid does not create it'
  return code ?? shownText(messageOf(error))
}

/** An event that is given up. */
export interface GivenUpEvent {
  readonly subscription: { readonly id: string; readonly name: string }
  /** The folder of its blobs in the container. */
  readonly folder: string
  /** Without a destination the event is dropped. */
  readonly destination: DeadLetterDestination | undefined
  /** The event, with the reason. */
  readonly event: EventText
  /** Why it is given up. */
  readonly reason: string
  /** Called when the event is written, or dropped if there is no path. */
  readonly done: (blobPath: string | undefined) => void
  /** Called in its place when the event is forgotten. */
  readonly forgotten: () => void
}

interface WaitingLetter extends GivenUpEvent {
  /** When writing failed first. */
  readonly failingSince?: number
  /** How often writing failed. */
  readonly failures?: number
}

export interface DeadLetterWriterOptions {
  readonly clock: Clock
  readonly records: Records['deadLetters']
  readonly store: DeadLetterStore
  readonly retries: DeadLetterRetries
  /** Tells that the dead letters of an event subscription can't be written. */
  readonly warn: (subscription: GivenUpEvent['subscription'], message: string) => void
  readonly work: WorkCounter
  /** Called after each write. */
  readonly written: () => void
}

/**
 * Writes events that are given up to the container of their event subscription, and records them. Where writing fails
 * for hours, an event is dropped: its record has no `blobPath`.
 */
export function createDeadLetterWriter(options: DeadLetterWriterOptions) {
  const { clock, records, store, retries, warn, work, written } = options
  const waiting = new DueQueue<WaitingLetter>()
  const writing = new Set<WaitingLetter>()
  let cancelTimer: CancelTimer = () => {}
  let closed = false

  function wake(): void {
    cancelTimer()
    const due = waiting.nextDue
    if (due !== undefined && !closed) cancelTimer = clock.setTimer(Math.max(due - clock.now(), 0), pump)
  }

  async function write(letters: readonly WaitingLetter[]): Promise<void> {
    const last = letters.at(-1)
    if (!last?.destination) return
    const at = clock.now()
    const { resourceId: storageAccountId, blobContainerName: container } = last.destination.properties
    const path = deadLetterPath(last.folder, at)
    const content = `[${letters.map(({ event }) => textOf(event)).join(',')}]`
    try {
      await store.write({ storageAccountId, container, path, content })
    } catch (error) {
      if (!letters.some(isWanted)) return
      // Event Grid tells nobody: it tries again, and drops the events in the end.
      if (letters.some(({ failingSince }) => failingSince === undefined))
        warn(last.subscription, waitsBecause(container, error, retries))
      return postpone(letters.filter(isWanted), at)
    }
    end(letters.filter(isWanted), `${container}/${path}`)
  }

  /** Whether it was not forgotten while it was written. */
  const isWanted = (letter: WaitingLetter) => writing.has(letter)

  function postpone(letters: readonly WaitingLetter[], now: number): void {
    for (const letter of letters) {
      const failingSince = letter.failingSince ?? now
      const failures = (letter.failures ?? 0) + 1
      const pauseMs = retries.pausesMs[failures - 1] ?? retries.pausesMs.at(-1) ?? 0
      if (now - failingSince >= retries.giveUpMs) end([letter], undefined)
      else waiting.add(now + pauseMs, { ...letter, failingSince, failures })
    }
    wake()
  }

  function end(letters: readonly GivenUpEvent[], blobPath: string | undefined): void {
    const [first] = letters
    if (!first) return
    records.push({
      at: clock.now(),
      subscriptionId: first.subscription.id,
      subscriptionName: first.subscription.name,
      ...(blobPath !== undefined && { blobPath }),
      reasons: letters.map(({ reason }) => reason),
      events: letters.map(({ event }) => event.value),
    })
    for (const { done } of letters) done(blobPath)
  }

  function pump(): void {
    const now = clock.now()
    const due: WaitingLetter[] = []
    for (let letter = waiting.take(now); letter; letter = waiting.take(now)) due.push(letter)
    for (const letters of Map.groupBy(due, ({ subscription }) => subscription.id).values()) {
      work.begin()
      for (const letter of letters) writing.add(letter)
      void write(letters).finally(() => {
        for (const letter of letters) writing.delete(letter)
        written()
        work.end()
      })
    }
    // A timer may fire a little too early: then nothing is due, and another one is needed.
    wake()
  }

  return {
    /** Takes an event, to be written at this time; without a destination it is dropped at once. */
    add(letter: GivenUpEvent, due: number) {
      if (!letter.destination) return end([letter], undefined)
      waiting.add(due, letter)
      wake()
    },
    /** Writes what is due: one blob for all due events of an event subscription. */
    pump,
    get size() {
      return waiting.size + writing.size
    },
    /** The events that are not written yet: their event subscriptions, by resource id, and when they are written. */
    pending() {
      const now = clock.now()
      const all = [...waiting.entries, ...[...writing].map((item) => ({ item, due: now }))]
      return all.map(({ item, due }) => ({ subscriptionId: item.subscription.id, due }))
    },
    /** Forgets the events that are not written yet, those too whose writing is under way. */
    forget(): void {
      cancelTimer()
      const letters = [...waiting.entries.map(({ item }) => item), ...writing]
      waiting.clear()
      writing.clear()
      for (const letter of letters) letter.forgotten()
    },
    /** Ends the timer. */
    close(): void {
      closed = true
      cancelTimer()
    },
  }
}

/** `{folder}/{Y}/{M}/{D}/{H}/{guid}.json`, in UTC and without padding zeroes (Event Grid: manage-event-delivery). */
export function deadLetterPath(folder: string, at: number, id: string = randomUUID()): string {
  const time = new Date(at)
  const parts = [time.getUTCFullYear(), time.getUTCMonth() + 1, time.getUTCDate(), time.getUTCHours()]
  return `${folder}/${parts.join('/')}/${id}.json`
}

/**
 * Writes dead-lettered events to blobs of one storage account, Azurite's or a real one, whichever accounts the
 * subscriptions name. The container must exist, as for Event Grid. The connection string stays in here, and is parsed at the first
 * write: a malformed one rejects every `write`.
 *
 * @param options.createsContainer makes a container that does not exist, which Event Grid never does. @default false
 * @throws Error that says what to install, where the package `@azure/storage-blob` is missing
 */
export function createBlobDeadLetterStore(
  connectionString: string,
  options: {
    readonly createsContainer?: boolean
    /** Longest time that the storage account may take for an answer, in ms. @default 30_000 */
    readonly answerTimeoutMs?: number
  } = {},
): DeadLetterStore {
  const { createsContainer = false, answerTimeoutMs = 30_000 } = options
  // An optional peer dependency, since it is a quarter of what an installation would weigh.
  requirePackage('@azure/storage-blob', 12, 'dead-letters to blobs')
  let service: Promise<BlobServiceClient> | undefined
  const containers = new Set<string>()

  // Loaded at the first dead-letter: most emulators never write one, and the client takes a while to load.
  async function connect(): Promise<BlobServiceClient> {
    const { BlobServiceClient } = await import('@azure/storage-blob')
    // No retries of its own: Event Grid tries again by its own clock.
    return BlobServiceClient.fromConnectionString(connectionString, { retryOptions: { maxTries: 1 } })
  }

  return {
    async write({ container, path, content }) {
      service ??= connect()
      const client = (await service).getContainerClient(container)
      const abortSignal = realTimers.abortAfter(answerTimeoutMs)
      if (createsContainer && !containers.has(container)) {
        const { succeeded } = await client.createIfNotExists({ abortSignal })
        if (succeeded) {
          process.emitWarning(
            `The container ${container} for dead letters did not exist, and was created (deadLetterCreatesContainer). ` +
              'Azure does not create it: it drops the dead letters.',
            'EmulatorWarning',
          )
        }
        containers.add(container)
      }
      const blob = client.getBlockBlobClient(path)
      await blob.upload(content, Buffer.byteLength(content), {
        abortSignal,
        blobHTTPHeaders: { blobContentType: 'application/json' },
      })
    },
  }
}
