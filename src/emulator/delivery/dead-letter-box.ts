import type { EmulatorContext } from '../context.ts'
import type { EventSubscription } from '../model/model.ts'
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
  /** When the store was first found away. */
  readonly awaySince?: number
}

/** Takes events that are given up and writes them, after a while, to their subscription's container. */
export interface DeadLetterBox {
  add(subscription: EventSubscription, given: GivenUpEvent): void
  /** Writes what is due: one blob for all events of a subscription that are due together. */
  pump(): void
  readonly size: number
}

/** Makes the box. Without a destination events are dropped at once, and recorded as such. */
export function createDeadLetterBox(
  context: EmulatorContext,
  settings: DeliverySettings,
  work: WorkCounter,
  wakeAt: (due: number) => void,
  journal: Journal,
  hooks: { readonly release: (given: GivenUpEvent) => void; readonly written: () => void },
): DeadLetterBox {
  const waiting = new DueQueue<Letter>()
  let writing = 0

  async function write(subscription: EventSubscription, letters: readonly Letter[]): Promise<void> {
    const at = context.clock.now()
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
      // Event Grid tells nobody either: it tries again, and drops the events after four hours.
      return postpone(letters, at)
    }
    record(subscription, letters, events, `${blobContainerName}/${path}`)
  }

  function postpone(letters: readonly Letter[], now: number): void {
    const lost: Letter[] = []
    for (const letter of letters) {
      const awaySince = letter.awaySince ?? now
      if (now - awaySince >= deadLetterTimes.giveUpMs) lost.push(letter)
      else waiting.add(now + deadLetterTimes.retryMs, { ...letter, awaySince })
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
    context.records.deadLetters.push({
      at: context.clock.now(),
      subscriptionId: subscription.id,
      subscriptionName: subscription.name,
      ...(blobPath !== undefined && { blobPath }),
      events,
    })
    for (const { given } of letters) {
      journal.settled(subscription.id, given.row)
      hooks.release(given)
    }
    context.watcher?.deadLettered(
      subscription,
      letters.map(({ given }) => given.event),
      blobPath,
    )
  }

  return {
    add(subscription, given) {
      if (!deadLetterDestinationOf(subscription)) return drop([{ subscription, given }])
      const due = (given.lastAttemptAt ?? context.clock.now()) + settings.deadLetterDelay
      waiting.add(due, { subscription, given })
      wakeAt(due)
    },
    pump() {
      const now = context.clock.now()
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
          hooks.written()
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
