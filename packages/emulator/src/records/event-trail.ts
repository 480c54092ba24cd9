/** What became of each event at every event subscription, with the last attempts. */
import {
  type AcceptedEvent,
  eventId,
  eventSource,
  eventSubject,
  eventType,
  heldByEvent,
} from '../model/events/accepted-event.ts'
import type { EventText } from '../model/events/event-text.ts'
import { heldBytes } from '../model/held-bytes.ts'
import type { EventSubscription } from '../model/resources/event-subscription.ts'
import type {
  Fate,
  FateState,
  LeftOut,
  TrailedAttempt,
  TrailedEvent,
  TrailListener,
  TrailWriter,
} from './event-fate.ts'
import type { Figures } from './figures.ts'
import type { Memory, Rank } from './memory.ts'
import type { DeliveryRecord } from './record-types.ts'

export type EventTrail = ReturnType<typeof createEventTrail>

export interface EventTrailOptions {
  readonly now: () => number
  readonly figures: Figures
  /** The memory of all records. */
  readonly memory: Memory
}

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

/** What an event is, by its fates. */
function rankOf({ fates }: Pick<TrailedEvent, 'fates'>): Rank {
  const all = [...fates.values()]
  const isBegun = ({ state }: Fate) => state === 'queued' || state === 'sending'
  const waits = (fate: Fate) => !endedStates.has(fate.state) && (!isBegun(fate) || fate.tries > 0)
  if (all.some(waits)) return 'waiting'
  if (all.some(({ state }) => lostStates.has(state))) return 'failed'
  return all.some(isBegun) ? 'under way' : 'ended'
}

/**
 * What a record, a fate, an attempt without its request, and an event subscription that does not match hold beside their texts, in bytes.
 */
const sizes = { event: 900, fate: 500, attempt: 200, unmatched: 200 } as const

/** The latest events, bounded by the bytes of the memory. */
export function createEventTrail({ now, figures, memory }: EventTrailOptions) {
  const kept = memory.shelf<TrailedEvent>(leave)
  /** By what they are in every room: an event that is forwarded is another AcceptedEvent. */
  const known = new WeakMap<EventText, TrailedEvent>()
  const listeners = new Set<TrailListener>()
  /** How many are left out, and those of them that may still change: pending events, which are bounded themselves. */
  const left = new Map<Rank, number>()
  const open = new Map<number, TrailedEvent>()
  let lastKey = 0
  /** The key of the last event that is forgotten. */
  let lastForgotten = 0

  function count(entry: TrailedEvent, rank: Rank | undefined): void {
    if (entry.leftAs !== undefined) left.set(entry.leftAs, (left.get(entry.leftAs) ?? 0) - 1)
    if (rank !== undefined) left.set(rank, (left.get(rank) ?? 0) + 1)
    entry.leftAs = rank
    if (rank === 'under way' || rank === 'waiting') open.set(entry.key, entry)
    else open.delete(entry.key)
  }

  /** An event makes room: of an event that is still pending only its fates are held. */
  function leave(entry: TrailedEvent): void {
    count(entry, rankOf(entry))
    for (const fate of entry.fates.values()) fate.attempts.length = fate.history.length = 0
    for (const listener of listeners) listener.gone(entry)
  }

  /** An event that was left out comes back when it waits or failed. */
  function bringBack(entry: TrailedEvent, rank: Rank): void {
    count(entry, undefined)
    entry.bytes = bytesOf(entry)
    kept.add(entry, rank, entry.bytes)
  }

  function add(topic: string, event: AcceptedEvent): TrailedEvent {
    const entry: TrailedEvent = {
      key: ++lastKey,
      at: now(),
      topic,
      source: eventSource(event),
      id: eventId(event),
      type: eventType(event),
      subject: eventSubject(event),
      schema: event.schema,
      event,
      fates: new Map(),
      furtherFates: 0,
      unmatched: new Map(),
      bytes: 0,
    }
    known.set(event.body, entry)
    entry.bytes = bytesOf(entry)
    kept.add(entry, 'ended', entry.bytes)
    return entry
  }

  function tell(entry: TrailedEvent): void {
    const rank = rankOf(entry)
    if (entry.leftAs === undefined) kept.changed(entry, rank, entry.bytes)
    else if (rank !== entry.leftAs && (rank === 'failed' || rank === 'waiting')) bringBack(entry, rank)
    else count(entry, rank)
    if (kept.has(entry)) for (const listener of listeners) listener.changed(entry, rank)
  }

  /** Changes the state of an event for a subscription; false if the subscription is not followed. */
  function change(
    { id, name, scope }: Pick<EventSubscription, 'id' | 'name' | 'scope'>,
    event: AcceptedEvent,
    apply: (fate: Fate, entry: TrailedEvent) => void,
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
      entry.bytes += sizes.fate
    }
    apply(fate, entry)
    tell(entry)
    return true
  }

  const trail: TrailWriter = {
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
    unmatched({ id, name }, event, because) {
      const entry = known.get(event.body)
      if (!entry || entry.unmatched.size >= fateLimit) return
      entry.unmatched.set(id.toLowerCase(), { id, name, because })
      entry.bytes += sizes.unmatched + heldBytes(because)
      kept.changed(entry, rankOf(entry), entry.bytes)
    },
    tried(subscription, events, record) {
      if (record.status !== undefined) figures.answered(record.durationMs)
      if (record.outcome === 'delivered') figures.add('delivered', events.length)
      else figures.add('failed')
      // The events of a batch share one record.
      const share = heldBytes(record) / events.length
      for (const event of events) {
        change(subscription, event, (fate, entry) => {
          fate.tries = record.deliveryCount + 1
          fate.attempts.push(record)
          // An attempt holds as much as the one before that makes room for it.
          if (fate.attempts.length > attemptLimit) fate.attempts.shift()
          else entry.bytes += share + sizes.attempt
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
      for (const entry of [...kept.all(), ...open.values()]) {
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
    ...trail,
    /** Oldest first. */
    events: () => kept.all().toSorted((one, other) => one.key - other.key),
    find: (key: number) => kept.all().find((entry) => entry.key === key),
    /** How many are kept of a rank. */
    count: (rank: Rank) => kept.count(rank),
    leftOut: (): LeftOut => ({
      events: [...left.values()].reduce((sum, one) => sum + one, 0),
      failed: left.get('failed') ?? 0,
      waiting: left.get('waiting') ?? 0,
    }),
    /** Tells a listener of all changes, until the returned function is called. */
    listen(listener: TrailListener): () => void {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    /** Forgets all events, for good: a later report about a forgotten event has no effect. */
    clear(): void {
      lastForgotten = lastKey
      kept.clear()
      left.clear()
      open.clear()
      for (const listener of listeners) listener.cleared()
    },
  }
}

function bytesOf({ source, id, type, subject, event, fates, unmatched }: TrailedEvent): number {
  const reasons = [...unmatched.values()].map(({ because }) => because)
  const more = fates.size * sizes.fate + unmatched.size * sizes.unmatched + heldBytes(reasons)
  return sizes.event + more + heldBytes([source, id, type, subject]) + heldByEvent(event)
}

function shortened({ at, status, error, outcome, durationMs, nextTryAt }: DeliveryRecord): TrailedAttempt {
  return {
    ...{ at, outcome, durationMs },
    ...(status !== undefined && { status }),
    ...(error !== undefined && { error }),
    ...(nextTryAt !== undefined && { nextTryAt }),
  }
}
