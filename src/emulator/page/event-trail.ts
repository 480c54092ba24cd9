import { type AcceptedEvent, eventId, eventSubject, eventType } from '../model/accepted-event.ts'
import type { GiveUpReason } from '../model/delivery-outcome.ts'
import type { EventSubscription, InputSchema } from '../model/model.ts'
import type { EventWatcher } from '../records/event-watcher.ts'
import type { DeliveryRecord } from '../records/record-types.ts'
import type { Figures } from './figures.ts'

/** Where an event stands with one subscription. `given up`: it waits for its dead-lettering. */
export type FateState = 'queued' | 'waiting' | 'delivered' | 'given up' | 'dead-lettered' | 'dropped' | 'forgotten'

/** An event's way to one subscription. */
export interface Fate {
  readonly subscriptionId: string
  readonly subscriptionName: string
  state: FateState
  /** When it is tried again, in state `waiting`. */
  nextTryAt?: number
  /** Why it was given up. */
  reason?: GiveUpReason
  /** Where it was put, in state `dead-lettered`. */
  blobPath?: string
  /** How many tries there were. */
  tries: number
  /** The last of them. */
  readonly attempts: DeliveryRecord[]
}

/** An event, and what happened to it so far. */
export interface TrailedEvent {
  /** Unique in this emulator, ascending in the order of arrival. */
  readonly key: number
  /** When it was first seen, by the emulator's clock. */
  readonly at: number
  /** Resource id. */
  readonly source: string
  readonly id: string
  readonly type: string
  readonly subject: string
  readonly schema: InputSchema
  /** As it was published: JSON, cut where it is long. */
  readonly body: string
  readonly truncated: boolean
  /** By the subscription's id in lower case. */
  readonly fates: Map<string, Fate>
  /** How many more subscriptions wanted it than are followed. */
  furtherFates: number
}

/** The latest events and their fates. */
export interface EventTrail extends EventWatcher {
  /** Newest first. */
  events(): TrailedEvent[]
  find(key: number): TrailedEvent | undefined
  /** Events that are not shown any more, though something may still happen to them. */
  readonly evicted: number
  /** Calls back with each event that is new or changed, perhaps several times in a tick. */
  listen(listener: (event: TrailedEvent) => void): void
}

/** What {@link createEventTrail} needs. */
export interface EventTrailOptions {
  readonly now: () => number
  readonly figures: Figures
  /** Most events that are remembered; the oldest that is done with makes room, or else the oldest. @default 300 */
  readonly limit?: number
}

/** Most bytes of an event's body that are kept. */
export const trailedBodyLimit = 16_384
/** Most tries of an event that are kept per subscription: the last ones. */
const attemptLimit = 10
/** Most subscriptions that are followed per event. */
export const fateLimit = 50
const ended: ReadonlySet<FateState> = new Set(['delivered', 'dead-lettered', 'dropped', 'forgotten'])

/** Makes the memory behind the page. Bounded in number and in size, and it costs little where nobody looks. */
export function createEventTrail(options: EventTrailOptions): EventTrail {
  const { now, figures, limit = 300 } = options
  const entries = new Map<number, TrailedEvent>()
  /** The keys of those that are done with, in that order: they make room first. */
  const finished = new Set<number>()
  const known = new WeakMap<AcceptedEvent, TrailedEvent>()
  /** Came together with so many others that they were never remembered. */
  const skipped = new WeakSet<AcceptedEvent>()
  const listeners: ((event: TrailedEvent) => void)[] = []
  let lastKey = 0
  let evicted = 0

  function add(source: string, event: AcceptedEvent): TrailedEvent {
    const text = JSON.stringify(event.body)
    const bytes = Buffer.from(text)
    const truncated = bytes.length > trailedBodyLimit
    const entry: TrailedEvent = {
      key: ++lastKey,
      at: now(),
      source,
      id: eventId(event),
      type: eventType(event),
      subject: eventSubject(event),
      schema: event.schema,
      // A slice of the text would keep all of it in memory; this is a copy.
      body: truncated ? bytes.toString('utf8', 0, trailedBodyLimit) : text,
      truncated,
      fates: new Map(),
      furtherFates: 0,
    }
    known.set(event, entry)
    entries.set(entry.key, entry)
    if (entries.size > limit) {
      const [oldest = entry.key] = finished.size > 0 ? finished : entries.keys()
      finished.delete(oldest)
      entries.delete(oldest)
      evicted++
    }
    return entry
  }

  /** Tells of a change, unless the event is not shown any more. */
  function changed(entry: TrailedEvent): void {
    if (!entries.has(entry.key)) return
    // Those that nobody wanted are done with too, since a subscription that wants one says so in the same tick.
    if ([...entry.fates.values()].every(({ state }) => ended.has(state))) finished.add(entry.key)
    else finished.delete(entry.key)
    for (const listener of listeners) listener(entry)
  }

  /** An event may come from a former run of the emulator: then it is first heard of here. */
  function fateOf(
    subscription: EventSubscription,
    event: AcceptedEvent,
  ): { readonly entry: TrailedEvent; readonly fate: Fate } | undefined {
    if (skipped.has(event)) return undefined
    const entry = known.get(event) ?? add(subscription.scope, event)
    const id = subscription.id.toLowerCase()
    let fate = entry.fates.get(id)
    if (!fate && entry.fates.size >= fateLimit) return undefined
    if (!fate) {
      const { name } = subscription
      fate = { subscriptionId: subscription.id, subscriptionName: name, state: 'queued', tries: 0, attempts: [] }
      entry.fates.set(id, fate)
    }
    return { entry, fate }
  }

  function change(subscription: EventSubscription, event: AcceptedEvent, apply: (fate: Fate) => void): void {
    const found = fateOf(subscription, event)
    if (!found) return
    apply(found.fate)
    changed(found.entry)
  }

  return {
    accepted(source, events) {
      figures.add('published', events.length)
      // Of more than are remembered only the last would be left.
      for (const event of events.slice(0, -limit)) {
        skipped.add(event)
        evicted++
      }
      for (const event of events.slice(-limit)) changed(add(source, event))
    },
    queued(subscription, event) {
      if (fateOf(subscription, event)) return change(subscription, event, () => {})
      const entry = known.get(event)
      if (entry) entry.furtherFates++
    },
    tried(subscription, events, record) {
      if (record.status !== undefined) figures.answered(record.durationMs)
      if (record.outcome === 'delivered') figures.add('delivered', events.length)
      else figures.add('failed')
      for (const event of events) {
        change(subscription, event, (fate) => {
          fate.tries = record.deliveryCount + 1
          fate.attempts.push(record)
          if (fate.attempts.length > attemptLimit) fate.attempts.shift()
          delete fate.nextTryAt
          if (record.outcome === 'delivered') fate.state = 'delivered'
          else if (record.outcome === 'retry' && fate.state !== 'forgotten') {
            fate.state = 'waiting'
            if (record.nextTryAt !== undefined) fate.nextTryAt = record.nextTryAt
          }
        })
      }
    },
    givenUp(subscription, event, reason) {
      change(subscription, event, (fate) => {
        fate.state = 'given up'
        fate.reason = reason
        delete fate.nextTryAt
      })
    },
    deadLettered(subscription, events, blobPath) {
      figures.add(blobPath === undefined ? 'dropped' : 'deadLettered', events.length)
      for (const event of events) {
        change(subscription, event, (fate) => {
          fate.state = blobPath === undefined ? 'dropped' : 'dead-lettered'
          if (blobPath !== undefined) fate.blobPath = blobPath
        })
      }
    },
    forgotten({ id }) {
      for (const entry of entries.values()) {
        const fate = entry.fates.get(id.toLowerCase())
        if (!fate || ended.has(fate.state) || fate.state === 'given up') continue
        fate.state = 'forgotten'
        delete fate.nextTryAt
        changed(entry)
      }
    },
    events: () => [...entries.values()].reverse(),
    find: (key) => entries.get(key),
    get evicted() {
      return evicted
    },
    listen: (listener) => void listeners.push(listener),
  }
}
