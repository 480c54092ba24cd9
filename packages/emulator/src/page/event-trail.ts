// Events remembered for the page: 300 of them, 10 attempts, 16 KiB body, their states.
import { type AcceptedEvent, eventId, eventSource, eventSubject, eventType } from '../model/events/accepted-event.ts'
import { type EventText, textOf } from '../model/events/event-text.ts'
import type { EventSubscription } from '../model/resources/event-subscription.ts'
import type { InputSchema } from '../model/resources/input-schema.ts'
import type { EventWatcher, FateChange } from '../records/event-watcher.ts'
import type { DeliveryRecord } from '../records/record-types.ts'
import type { Figures } from './figures.ts'
import { createKeptEvents, type KeptRank } from './kept-events.ts'

/** The state of an event for one subscription. `given up`: it waits for dead-lettering. */
export type FateState = FateChange['state'] | 'waiting' | 'forgotten'

export interface Fate {
  readonly subscriptionId: string
  readonly subscriptionName: string
  /** Whether a receiver pulls it: it is not pushed. */
  readonly pull: boolean
  state: FateState
  /** Time of the next attempt, in state `waiting`; the end of a lock or of a delay. */
  nextTryAt?: number
  /** Why it was given up. */
  reason?: string
  /** Where it was put, in state `dead-lettered`. */
  blobPath?: string
  /** Number of attempts. */
  tries: number
  /** The last attempts. */
  readonly attempts: DeliveryRecord[]
  /** How all attempts ended, the first of very many left out. */
  readonly history: TrailedAttempt[]
}

/** An attempt without its request and its answer. */
export type TrailedAttempt = Pick<DeliveryRecord, 'at' | 'status' | 'error' | 'outcome' | 'durationMs' | 'nextTryAt'>

export interface TrailedEvent {
  /** Unique in this emulator, ascending in the order of arrival. */
  readonly key: number
  /** When it was first seen, by the emulator's clock. */
  readonly at: number
  /** Resource id of the topic, or of what raised the event. */
  readonly topic: string
  /** As the event has it. */
  readonly source: string
  readonly id: string
  readonly type: string
  readonly subject: string
  readonly schema: InputSchema
  /** As it was published: JSON, cut where it is long. */
  readonly body: string
  readonly truncated: boolean
  /** The event itself, for another delivery; `undefined` if it is long. */
  readonly event: AcceptedEvent | undefined
  /** By the subscription's id in lower case. */
  readonly fates: Map<string, Fate>
  /** Number of further subscriptions, which are not followed. */
  furtherFates: number
  /** The subscriptions that do not match, by their ids in lower case. */
  readonly unmatched: Map<string, Pick<EventSubscription, 'id' | 'name'>>
}

/** Who is told of the events, perhaps several times in a tick. */
export interface TrailListener {
  /** An event is new, has changed, or is shown again. */
  changed(event: TrailedEvent): void
  /** An event made room for another. */
  gone(event: TrailedEvent): void
  /** All events are forgotten. */
  cleared(): void
}

export type EventTrail = ReturnType<typeof createEventTrail>

export interface EventTrailOptions {
  readonly now: () => number
  readonly figures: Figures
  /** The maximum number of events that the page shows. @default 300 */
  readonly limit?: number
}

/** The maximum size of an event's body in memory, in bytes. */
export const trailedBodyLimit = 16_384
/** The maximum number of attempts in memory for an event and a subscription: the last ones. */
const attemptLimit = 10
/** The same without requests and answers. Event Grid tries an event 30 times at most; on the page it may be redelivered. */
const historyLimit = 50
/** The maximum number of subscriptions that are followed per event. */
export const fateLimit = 50
export const endedStates: ReadonlySet<FateState> = new Set([
  'delivered',
  'dead-lettered',
  'dropped',
  'forgotten',
  'forwarded',
  'unserved',
])

const lostStates: ReadonlySet<FateState> = new Set(['dead-lettered', 'dropped', 'forgotten'])

/** What is counted of the ends of an event. */
const ends: Partial<Readonly<Record<FateState, 'delivered' | 'deadLettered' | 'dropped'>>> = {
  delivered: 'delivered',
  'dead-lettered': 'deadLettered',
  dropped: 'dropped',
}

/** What an event is to the page, by its fates. */
function rankOf({ fates }: Pick<TrailedEvent, 'fates'>): KeptRank {
  const all = [...fates.values()]
  const waits = ({ state, tries }: Fate) => !endedStates.has(state) && (state !== 'queued' || tries > 0)
  if (all.some(waits)) return 'waiting'
  if (all.some(({ state }) => lostStates.has(state))) return 'failed'
  return all.some(({ state }) => state === 'queued') ? 'under way' : 'ended'
}

/** The latest events, bounded in number and size. */
export function createEventTrail({ now, figures, limit = 300 }: EventTrailOptions) {
  const kept = createKeptEvents<TrailedEvent>(limit, rankOf)
  /** By what they are in every room: an event that is forwarded is another AcceptedEvent. */
  const known = new WeakMap<EventText, TrailedEvent>()
  const listeners: TrailListener[] = []
  let lastKey = 0
  /** The key of the last event that is forgotten. */
  let lastForgotten = 0

  function add(topic: string, event: AcceptedEvent): TrailedEvent {
    const text = textOf(event.body)
    const bytes = Buffer.from(text)
    const truncated = bytes.length > trailedBodyLimit
    const entry: TrailedEvent = {
      key: ++lastKey,
      at: now(),
      topic,
      source: eventSource(event),
      id: eventId(event),
      type: eventType(event),
      subject: eventSubject(event),
      schema: event.schema,
      // A copy: a slice of the text would keep all of it in memory.
      body: truncated ? bytes.toString('utf8', 0, trailedBodyLimit) : text,
      truncated,
      event: truncated ? undefined : event,
      fates: new Map(),
      furtherFates: 0,
      unmatched: new Map(),
    }
    known.set(event.body, entry)
    tellGone(kept.add(entry))
    return entry
  }

  function tellGone(gone: TrailedEvent | undefined): void {
    if (gone) for (const listener of listeners) listener.gone(gone)
  }

  function tell(entry: TrailedEvent): void {
    tellGone(kept.changed(entry))
    if (kept.has(entry)) for (const listener of listeners) listener.changed(entry)
  }

  /** Changes the state of an event for a subscription; false if the subscription is not followed. */
  function change(
    { id, name, scope }: Pick<EventSubscription, 'id' | 'name' | 'scope'>,
    event: AcceptedEvent,
    apply: (fate: Fate) => void,
    pull = false,
  ): boolean {
    // An event of an earlier run of the emulator is not known yet.
    const entry = known.get(event.body) ?? add(scope, event)
    if (entry.key <= lastForgotten) return false
    let fate = entry.fates.get(id.toLowerCase())
    if (!fate) {
      if (entry.fates.size >= fateLimit) return false
      fate = { subscriptionId: id, subscriptionName: name, pull, state: 'queued', tries: 0, attempts: [], history: [] }
      entry.fates.set(id.toLowerCase(), fate)
    }
    apply(fate)
    tell(entry)
    return true
  }

  const watcher: EventWatcher = {
    accepted(source, events) {
      figures.add('published', events.length)
      for (const event of events) if (!known.has(event.body)) tell(add(source, event))
    },
    changed(subscription, event, { pull, nextTryAt, ...changes }) {
      const end = ends[changes.state]
      if (end) figures.add(end)
      const isFollowed = change(
        subscription,
        event,
        (fate) => {
          delete fate.nextTryAt
          if (changes.state === 'queued') {
            delete fate.reason
            delete fate.blobPath
          }
          Object.assign(fate, changes, nextTryAt !== undefined && { nextTryAt })
        },
        pull,
      )
      const entry = known.get(event.body)
      if (!isFollowed && !pull && changes.state === 'queued' && entry) entry.furtherFates++
    },
    offered(subscriptions, events) {
      for (const event of events) {
        const entry = known.get(event.body)
        if (!entry || entry.fates.size >= fateLimit) continue
        for (const { id, name } of subscriptions.slice(0, fateLimit)) {
          if (!entry.fates.has(id.toLowerCase())) entry.unmatched.set(id.toLowerCase(), { id, name })
        }
      }
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
          fate.history.push(shortened(record))
          if (fate.history.length > historyLimit) fate.history.shift()
          delete fate.nextTryAt
          if (record.outcome === 'delivered') fate.state = 'delivered'
          else if (record.outcome === 'retry' && fate.state !== 'forgotten') {
            fate.state = 'waiting'
            if (record.nextTryAt !== undefined) fate.nextTryAt = record.nextTryAt
          }
        })
      }
    },
    forgotten({ id }, reason) {
      for (const entry of [...kept.all(), ...kept.open()]) {
        const fate = entry.fates.get(id.toLowerCase())
        if (!fate || endedStates.has(fate.state) || fate.state === 'given up') continue
        fate.state = 'forgotten'
        if (reason !== undefined) fate.reason = reason
        delete fate.nextTryAt
        tell(entry)
      }
    },
  }
  return {
    ...watcher,
    /** Newest first. */
    events: kept.all,
    find: kept.find,
    limit,
    leftOut: kept.leftOut,
    listen: (listener: TrailListener) => void listeners.push(listener),
    /** Forgets all events, for good: what is told of one of them later has no effect. */
    clear(): void {
      lastForgotten = lastKey
      kept.clear()
      for (const listener of listeners) listener.cleared()
    },
  }
}

function shortened({ at, status, error, outcome, durationMs, nextTryAt }: DeliveryRecord): TrailedAttempt {
  return {
    ...{ at, outcome, durationMs },
    ...(status !== undefined && { status }),
    ...(error !== undefined && { error }),
    ...(nextTryAt !== undefined && { nextTryAt }),
  }
}
