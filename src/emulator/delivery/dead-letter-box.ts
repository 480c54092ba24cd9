import type { Clock } from '../model/clock.ts'
import type { EventSubscription } from '../model/model.ts'
import type { EventWatcher } from '../records/event-watcher.ts'
import type { Records } from '../records/record-types.ts'
import type { Journal } from '../state/journal.ts'
import {
  deadLetterDestinationOf,
  deadLetteredForm,
  deadLetterPath,
  deadLetterTimes,
  type GivenUpEvent,
} from './dead-letter.ts'
import type { DeliverySettings } from './delivery-options.ts'
import { deliverySchemaOf } from './delivery-request.ts'
import { DueQueue } from './due-queue.ts'
import type { WorkCounter } from './work-counter.ts'

interface Letter {
  readonly subscription: EventSubscription
  readonly given: GivenUpEvent
  /** When writing failed first. */
  readonly failingSince?: number
}

/** Writes events that are given up to the container of their subscription, after a delay. */
export interface DeadLetterBox {
  add(subscription: EventSubscription, given: GivenUpEvent): void
  /** Writes what is due: one blob for all due events of a subscription. */
  pump(): void
  readonly size: number
}

export interface DeadLetterBoxOptions {
  readonly clock: Clock
  readonly records: Pick<Records, 'deadLetters'>
  readonly watcher?: EventWatcher
  readonly settings: DeliverySettings
  readonly work: WorkCounter
  readonly journal: Journal
  /** Asks for a call of `pump` at this time. */
  readonly wakeAt: (due: number) => void
  /** The event is no longer pending. */
  readonly release: (event: GivenUpEvent) => void
  /** Called after each write. */
  readonly written: () => void
}

/** Makes the box. Events of a subscription without a dead-letter destination are dropped and recorded at once. */
export function createDeadLetterBox(options: DeadLetterBoxOptions): DeadLetterBox {
  const { clock, records, watcher, settings, work, journal, wakeAt } = options
  const waiting = new DueQueue<Letter>()
  let writing = 0

  async function write(subscription: EventSubscription, letters: readonly Letter[]): Promise<void> {
    const at = clock.now()
    const destination = deadLetterDestinationOf(subscription)
    if (!destination) return drop(letters)
    const { resourceId, blobContainerName } = destination.properties
    const schema = deliverySchemaOf(subscription)
    const events = letters.map(({ given }) => deadLetteredForm(given, schema))
    const path = deadLetterPath(subscription.name, at)
    try {
      const content = JSON.stringify(events)
      await settings.deadLetterStore.write({
        storageAccountId: resourceId,
        container: blobContainerName,
        path,
        content,
      })
    } catch {
      // Like Event Grid, without a report: it tries again, and drops the events after four hours.
      return postpone(letters, at)
    }
    record(subscription, letters, events, `${blobContainerName}/${path}`)
  }

  function postpone(letters: readonly Letter[], now: number): void {
    const lost: Letter[] = []
    for (const letter of letters) {
      const failingSince = letter.failingSince ?? now
      if (now - failingSince >= deadLetterTimes.giveUpMs) lost.push(letter)
      else waiting.add(now + deadLetterTimes.retryMs, { ...letter, failingSince })
    }
    drop(lost)
    if (waiting.nextDue !== undefined) wakeAt(waiting.nextDue)
  }

  function drop(letters: readonly Letter[]): void {
    for (const letter of letters) {
      const { subscription, given } = letter
      record(subscription, [letter], [deadLetteredForm(given, deliverySchemaOf(subscription))], undefined)
    }
  }

  function record(
    subscription: EventSubscription,
    letters: readonly Letter[],
    events: readonly unknown[],
    blobPath: string | undefined,
  ): void {
    records.deadLetters.push({
      at: clock.now(),
      subscriptionId: subscription.id,
      subscriptionName: subscription.name,
      ...(blobPath !== undefined && { blobPath }),
      events,
    })
    for (const { given } of letters) {
      journal.settled(subscription.id, given.row)
      options.release(given)
    }
    watcher?.deadLettered(
      subscription,
      letters.map(({ given }) => given.event),
      blobPath,
    )
  }

  return {
    add(subscription, given) {
      if (!deadLetterDestinationOf(subscription)) return drop([{ subscription, given }])
      const due = (given.lastAttemptAt ?? clock.now()) + settings.deadLetterDelay
      waiting.add(due, { subscription, given })
      wakeAt(due)
    },
    pump() {
      const now = clock.now()
      const due = new Map<string, Letter[]>()
      for (let letter = waiting.take(now); letter; letter = waiting.take(now)) {
        const letters = due.get(letter.subscription.id) ?? []
        letters.push(letter)
        due.set(letter.subscription.id, letters)
      }
      for (const letters of due.values()) {
        const subscription = letters.at(-1)?.subscription
        if (!subscription) continue
        work.begin()
        writing += letters.length
        void write(subscription, letters).finally(() => {
          writing -= letters.length
          options.written()
          work.end()
        })
      }
      if (waiting.nextDue !== undefined) wakeAt(waiting.nextDue)
    },
    get size() {
      return waiting.size + writing
    },
  }
}
