/** Which Queue event subscriptions get an event, how long the event waits there, and what becomes of a dead letter. */
import { durationSeconds } from '../../../../src/support/time/clock.ts'
import {
  createDeadLetterWriter,
  type DeadLetterWriterOptions,
  namespaceDeadLetterRetries,
} from '../dead-letters/write-dead-letters.ts'
import { type AcceptedEvent, deliveredForm, type SourcedEvents } from '../model/events/accepted-event.ts'
import { type EventText, eventOf, textOf, withMembers, withText } from '../model/events/event-text.ts'
import { compileFilter, filterOf } from '../model/events/filters.ts'
import { heldBytes, type PendingBound } from '../model/held-bytes.ts'
import { destinationOf, type EventSubscription, takingEvents } from '../model/resources/event-subscription.ts'
import type { NamespaceStore, NamespaceTopic, QueueSubscription } from '../model/resources/namespace.ts'
import type { Store } from '../model/resources/store.ts'
import type { Clock } from '../model/time/clock.ts'
import { createSettledWaiters } from '../model/time/work-counter.ts'
import { preciseTime } from '../model/wording.ts'
import { endOf, type FateChange, type TrailWriter } from '../records/event-fate.ts'
import type { Journal, JournalEntry } from '../state/journal.ts'
import {
  createPullQueue,
  type DeadLetterReason,
  type PullQueue,
  type QueuedEvent,
  type QueueFigures,
  type QueueSettings,
} from './pull-queue.ts'

/** Defaults of a Queue event subscription (ARM 2025-02-15). That of `maxDeliveryCount` is the portal's. */
export const queueDefaults = { lockDurationSeconds: 60, maxDeliveryCount: 10 } as const

export type NamespaceQueues = ReturnType<typeof createNamespaceQueues>

export interface NamespaceQueuesOptions {
  readonly clock: Clock
  readonly store: NamespaceStore
  readonly journal: Journal
  readonly bound: PendingBound
  readonly deadLetters: Pick<DeadLetterWriterOptions, 'records' | 'store' | 'warn' | 'work'>
  readonly trail?: Pick<TrailWriter, 'changed' | 'forgotten'>
}

interface Entry {
  readonly queue: PullQueue
  subscription: QueueSubscription
  mismatch: (event: EventText) => string | undefined
}

/** The queues of all Queue event subscriptions. */
export function createNamespaceQueues(options: NamespaceQueuesOptions) {
  const { clock, store, journal, bound, trail } = options
  const entries = new Map<string, Entry>()
  let closed = false

  const deadLetters = createDeadLetterWriter({
    ...options.deadLetters,
    ...{ clock, retries: namespaceDeadLetterRetries },
    written: () => waiters.check(),
  })
  const pending = () => [...entries.values()].reduce((sum, { queue }) => sum + queue.size, deadLetters.size)

  const waiters = createSettledWaiters(() => closed || pending() === 0)

  const entriesAt = (topic: NamespaceTopic) =>
    store.subscriptions.of(topic.id).flatMap(({ id }) => entries.get(id.toLowerCase()) ?? [])

  function makeEntry(subscription: QueueSubscription): Entry {
    const { id, name, topicId: scope } = subscription
    const tell = ({ event, deliveryCount: tries }: QueuedEvent, change: FateChange) =>
      trail?.changed({ id, name, scope }, acceptedForm(event), { pull: true, tries, ...change })
    const queue = createPullQueue({
      clock,
      settings: settingsOf(subscription, store),
      changed(event) {
        const { state, row, deliveryCount, until } = event
        if (state === 'locked') journal.tried(id, row, { attempts: deliveryCount })
        tell(event, { state: state === 'available' ? 'queued' : state, nextTryAt: until })
      },
      removed(event, reason) {
        const end = () => {
          journal.settled(id, event.row)
          bound.release(event.hold)
          waiters.check()
        }
        tell(event, reason ? { state: 'given up', reason } : { state: 'delivered' })
        if (!reason) return end()
        const done = (blobPath: string | undefined) => {
          tell(event, { reason, ...endOf(blobPath) })
          end()
        }
        const { subscription: current } = entry
        const { queue: settings } = current.properties.deliveryConfiguration
        const destination = settings?.deadLetterDestinationWithResourceIdentity?.deadLetterDestination
        const folder = deadLetterFolder(current, store)
        const form = namespaceDeadLetter(event, reason, clock.now())
        const letter = { subscription: current, folder, destination, event: form, reason, done, forgotten: end }
        deadLetters.add(letter, clock.now())
        deadLetters.pump()
      },
    })
    const entry: Entry = { queue, subscription, mismatch: queueFilterOf(subscription) }
    return entry
  }

  return {
    /**
     * Takes CloudEvents of a namespace topic for each event subscription that wants them; returns those that none wants.
     * Throws where a state file can't be written: then none is taken.
     */
    publish(topic: NamespaceTopic, events: readonly EventText[]): readonly EventText[] {
      const takers = entriesAt(topic)
      const acceptedAt = clock.now()
      const wanted = events.map((event) => ({
        event,
        takers: takers.filter(({ mismatch }) => mismatch(event) === undefined),
      }))
      const rows = journal.accepted(
        wanted.map(({ event, takers: entriesOf }) => ({
          event: acceptedForm(event),
          subscriptionIds: entriesOf.map(({ subscription }) => subscription.id),
        })),
        acceptedAt,
      )
      for (const [index, { event, takers: entriesOf }] of wanted.entries()) {
        if (entriesOf.length === 0) continue
        const hold = bound.hold(heldBytes(event), entriesOf.length)
        for (const { queue } of entriesOf) queue.add({ event, acceptedAt, deliveryCount: 0, row: rows[index], hold })
      }
      return wanted.flatMap(({ event, takers: entriesOf }) => (entriesOf.length === 0 ? [event] : []))
    },
    /** The event subscriptions of a topic that do not want events, with the reason. */
    mismatches: (topic: NamespaceTopic, events: readonly EventText[]) =>
      entriesAt(topic).flatMap(({ subscription, mismatch }) =>
        events.flatMap((event) => {
          const because = mismatch(event)
          return because === undefined ? [] : [{ subscription, event: acceptedForm(event), because }]
        }),
      ),
    /** Whether the limit of pending events is reached. */
    full: bound.full,
    /** The queue of an event subscription, by its resource id; `undefined` for an unknown id. */
    queue: (subscriptionId: string) => entries.get(subscriptionId.toLowerCase())?.queue,
    /** An event subscription was stored: its queue is made, or takes the new settings. */
    subscriptionChanged(subscription: QueueSubscription): void {
      const key = subscription.id.toLowerCase()
      const known = entries.get(key)
      if (!known) return void entries.set(key, makeEntry(subscription))
      known.subscription = subscription
      known.mismatch = queueFilterOf(subscription)
      known.queue.use(settingsOf(subscription, store))
    },
    /** An event subscription has gone, and its events with it. */
    subscriptionDeleted(subscriptionId: string): void {
      const key = subscriptionId.toLowerCase()
      for (const { hold } of entries.get(key)?.queue.close() ?? []) bound.release(hold)
      entries.delete(key)
      trail?.forgotten({ id: subscriptionId })
      journal.forget(subscriptionId)
      waiters.check()
    },
    /** Takes up what waited when the emulator ended; false for an entry of another kind of event subscription. */
    restore({ subscriptionId, event, acceptedAt, row, state: { attempts } }: JournalEntry): boolean {
      const entry = entries.get(subscriptionId.toLowerCase())
      if (!entry) return false
      const hold = bound.hold(heldBytes(event.body), 1)
      entry.queue.add({ event: event.body, acceptedAt, deliveryCount: attempts, row, hold })
      return true
    },
    /** Forgets all events as if they had never been. Receives that wait go on waiting. */
    forget(): void {
      for (const { queue, subscription } of entries.values()) {
        for (const { hold } of queue.clear()) bound.release(hold)
        journal.forget(subscription.id)
      }
      deadLetters.forget()
      waiters.check()
    },
    /** How many events are in which state, by the resource id of the event subscription. */
    figures: (): ReadonlyMap<string, QueueFigures> =>
      new Map([...entries.values()].map(({ subscription, queue }) => [subscription.id, queue.figures()])),
    /** Number of events that no receiver has settled. */
    pending,
    /** The events that are given up and not written to a blob yet. */
    pendingDeadLetters: deadLetters.pending,
    /** Resolves when no event is pending. Rejects with the signal's reason. */
    settled: waiters.wait,
    close() {
      closed = true
      deadLetters.close()
      for (const { queue } of entries.values()) queue.close()
      waiters.check()
    },
  }
}

const acceptedForm = (body: EventText): AcceptedEvent => ({ schema: 'CloudEventSchemaV1_0', body })

function settingsOf({ properties, topicId }: QueueSubscription, store: NamespaceStore): QueueSettings {
  const { queue = {} } = properties.deliveryConfiguration
  const { receiveLockDurationInSeconds = queueDefaults.lockDurationSeconds, eventTimeToLive } = queue
  const retentionMs = (store.topics.get(topicId)?.eventRetentionInDays ?? 1) * 24 * 3_600_000
  const timeToLive = eventTimeToLive === undefined ? undefined : durationSeconds(eventTimeToLive)
  return {
    lockDurationMs: receiveLockDurationInSeconds * 1000,
    maxDeliveryCount: queue.maxDeliveryCount ?? queueDefaults.maxDeliveryCount,
    timeToLiveMs: Math.min((timeToLive ?? Number.POSITIVE_INFINITY) * 1000, retentionMs),
  }
}

function queueFilterOf({ properties: { filtersConfiguration } }: QueueSubscription): Entry['mismatch'] {
  const { includedEventTypes, filters } = filtersConfiguration ?? {}
  const mismatch = compileFilter({
    ...(includedEventTypes && { includedEventTypes }),
    ...(filters && { advancedFilters: filters }),
  })
  return (body) => mismatch(acceptedForm(body))
}

interface Forwarded {
  readonly event: AcceptedEvent
  readonly subscription: EventSubscription
}

/**
 * Forwards events of a source to namespace topics: for each event subscription whose destination is a `NamespaceTopic`
 * (Event Grid: handler-event-grid-namespace-topic). A namespace topic that does not exist takes no events.
 */
export function createForwarding(store: Store, namespaces: NamespaceStore, queues: Pick<NamespaceQueues, 'publish'>) {
  function* forward(source: string, events: readonly AcceptedEvent[]): Generator<Forwarded> {
    for (const subscription of store.subscriptions.of(source)) {
      const taker = takingEvents(subscription)
      if (!taker) continue
      const destination = destinationOf(taker.properties)
      if (destination?.endpointType !== 'NamespaceTopic') continue
      const topic = namespaces.topics.get(String(destination.properties.resourceId))
      if (!topic) continue
      const wanted = events.filter((event) => filterOf(store, taker)(event) === undefined)
      const forwarded = wanted.map((event) => deliveredForm(event, 'CloudEventSchemaV1_0'))
      if (forwarded.length > 0) queues.publish(topic, forwarded)
      for (const event of wanted) yield { event, subscription: taker }
    }
  }

  /** Returns the events that it forwarded, and for which event subscription. */
  return (accepted: readonly SourcedEvents[]): readonly Forwarded[] =>
    accepted.flatMap(({ sources, events }) => sources.flatMap((source) => [...forward(source, events)]))
}

/** The first is from a sample of the page; the others, and the result, are assumed. */
const reasonTexts: Readonly<Record<DeadLetterReason, string>> = {
  MaxDeliveryAttemptsExceeded: 'Maximum delivery attempts was exceeded',
  TimeToLiveExceeded: 'Time to live was exceeded',
  Rejected: 'Rejected by the receiver',
}

/**
 * An event that was published in structured mode has the properties as members; one of binary mode stands under `event` (Event Grid:
 * dead-letter-event-subscriptions-namespace-topics, 2023).
 */
export function namespaceDeadLetter(queued: QueuedEvent, reason: DeadLetterReason, now: number): EventText {
  const { event, deliveryCount, acceptedAt, receivedAt = now } = queued
  const added = {
    customDeliveryProperties: {},
    deadletterProperties: {
      deadletterreason: reasonTexts[reason],
      deliveryattempts: deliveryCount,
      deliveryresult: 'GeneralError',
      publishutc: preciseTime(acceptedAt),
      deliveryattemptutc: preciseTime(receivedAt),
    },
  }
  return withMembers(event.isBinary ? withText(eventOf({}), 'event', textOf(event)) : event, added)
}

/** `{namespace}/{topic}/{event subscription}`. */
export function deadLetterFolder({ name, topicId }: QueueSubscription, store: NamespaceStore): string {
  const topic = store.topics.get(topicId)
  const namespace = topic && store.namespaces.get(topic.namespaceId)
  return [namespace?.name, topic?.name, name].filter((one) => one !== undefined).join('/')
}
