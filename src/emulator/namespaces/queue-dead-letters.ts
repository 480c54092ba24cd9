import { randomUUID } from 'node:crypto'
import type { CancelTimer, Clock } from '../model/clock.ts'
import type { JsonObject } from '../model/json-object.ts'
import type { QueueSubscription } from '../model/namespace.ts'
import type { Records } from '../records/record-types.ts'

/** An event that is given up, for the container of its event subscription. */
export interface QueueDeadLetter {
  readonly subscription: QueueSubscription
  /** The event, with the reason. */
  readonly event: JsonObject
  /** Called when it is written or dropped. */
  readonly done: () => void
}

export interface QueueDeadLettersOptions {
  readonly clock: Clock
  readonly records: Records['deadLetters']
  /** Writes a blob. Rejects where the store is not available. */
  readonly write: (blob: {
    readonly storageAccountId: string
    readonly container: string
    readonly path: string
    readonly content: string
  }) => Promise<void>
  /** How long after a failed write the next one follows, and after how long the event is dropped, in milliseconds. */
  readonly times: { readonly retryMs: number; readonly giveUpMs: number }
}

/** Writes events that Queue event subscriptions give up, and tries again what could not be written. */
export interface QueueDeadLetters {
  add(letter: QueueDeadLetter): void
  /** Events that are neither written nor dropped. */
  readonly size: number
  /** Ends the timers. */
  close(): void
}

/** Without a destination, or where writing fails for hours, an event is dropped: its record has no `blobPath`. */
export function createQueueDeadLetters({ clock, records, write, times }: QueueDeadLettersOptions): QueueDeadLetters {
  const timers = new Set<CancelTimer>()
  let size = 0
  let closed = false

  function end({ subscription, event, done }: QueueDeadLetter, blobPath: string | undefined): void {
    const { id: subscriptionId, name: subscriptionName } = subscription
    const at = clock.now()
    records.push({ at, subscriptionId, subscriptionName, events: [event], ...(blobPath !== undefined && { blobPath }) })
    size--
    done()
  }

  async function tryWriting(letter: QueueDeadLetter, failingSince: number | undefined): Promise<void> {
    const { subscription, event } = letter
    const { queue } = subscription.properties.deliveryConfiguration
    const to = queue?.deadLetterDestinationWithResourceIdentity?.deadLetterDestination.properties
    if (!to) return end(letter, undefined)
    const at = clock.now()
    const { resourceId: storageAccountId, blobContainerName: container } = to
    const path = deadLetterPath(subscription.name, at)
    const content = JSON.stringify([event])
    const isWritten = await write({ storageAccountId, container, path, content }).then(
      () => true,
      () => false,
    )
    if (closed) return
    if (isWritten) return end(letter, `${container}/${path}`)
    const since = failingSince ?? at
    if (at - since >= times.giveUpMs) return end(letter, undefined)
    const cancel = clock.setTimer(times.retryMs, () => {
      timers.delete(cancel)
      void tryWriting(letter, since)
    })
    timers.add(cancel)
  }

  return {
    add(letter) {
      size++
      void tryWriting(letter, undefined)
    },
    get size() {
      return size
    },
    close() {
      closed = true
      for (const cancel of timers) cancel()
      timers.clear()
    },
  }
}

/** `{NAME}/{Y}/{M}/{D}/{H}/{guid}.json`, in UTC and without padding zeroes (Event Grid: manage-event-delivery). */
function deadLetterPath(name: string, at: number): string {
  const time = new Date(at)
  const hour = [time.getUTCFullYear(), time.getUTCMonth() + 1, time.getUTCDate(), time.getUTCHours()].join('/')
  return `${name.toUpperCase()}/${hour}/${randomUUID()}.json`
}
