/** Which undelivered events outlive the process: those in a state file, each with its attempts so far; in memory none. */
import { memberTexts } from '../../../../src/support/text/json-text.ts'
import type { AcceptedEvent, DeliveryOutcome, GiveUpReason } from '../model/events/accepted-event.ts'
import { type EventText, eventText, textOf } from '../model/events/event-text.ts'
import type { StateFile } from './state-file.ts'

/**
 * The delivery attempts of an event for one subscription. Times are milliseconds since 1970 by the emulator's clock.
 */
export interface TryState {
  readonly attempts: number
  /** The id that brokers know the event by. */
  readonly systemId?: string | undefined
  readonly lastAttemptAt?: number | undefined
  readonly lastOutcome?: DeliveryOutcome | undefined
  readonly lastStatus?: number | undefined
  /** Time of the next attempt. */
  readonly due?: number | undefined
  /** Set if the event waits for dead-lettering. */
  readonly givenUp?: GiveUpReason | undefined
}

/** An event that was pending when the emulator ended. */
export interface JournalEntry {
  readonly row: number
  readonly subscriptionId: string
  readonly event: AcceptedEvent
  readonly acceptedAt: number
  readonly state: TryState
}

/** Persists which events are pending for which event subscription. */
export interface Journal {
  /**
   * Writes events with the ids of their subscriptions; returns their numbers. When it returns, the events survive a
   * kill of the process. Throws if it can't write: then nothing was written.
   */
  accepted(
    events: readonly { readonly event: AcceptedEvent; readonly subscriptionIds: readonly string[] }[],
    acceptedAt: number,
  ): readonly (number | undefined)[]
  /** An attempt failed. A kill soon after may lose this. */
  tried(subscriptionId: string, row: number | undefined, state: TryState): void
  /** The event was delivered, dead-lettered or dropped. After a kill soon after it may be delivered again. */
  settled(subscriptionId: string, row: number | undefined): void
  /** No event of this subscription is pending any more. A kill soon after may bring them back. */
  forget(subscriptionId: string): void
  /** The events that were pending when the emulator ended, oldest first. */
  entries(): Iterable<JournalEntry>
}

/** Persists nothing: events end with the process. */
export const noJournal: Journal = {
  accepted: () => [],
  tried: () => {},
  settled: () => {},
  forget: () => {},
  entries: () => [],
}

/** An event that was tried or is no longer pending; without a row, all events of the subscription are no longer pending. */
type Change = { readonly row?: number; readonly subscription: string; readonly state?: TryState | undefined }

/**
 * Results of attempts are written together, this many milliseconds after the first, and stay in memory as long as the file does not
 * take them. If the process is killed before, an event may be delivered twice; none is lost.
 */
const flushMs = 50

/** Pause before they are written again that the file did not take, in ms: the disk was full, say. */
const againMs = 1_000

/** Makes the journal. Events are written at once, in one transaction per call; results of attempts soon. */
export function createFileJournal({ database, transaction }: StateFile): Journal & { close(): void } {
  // By name: Node 22.18 does not bind numbered parameters.
  const addEvent = database.prepare(
    'INSERT INTO event (accepted_at, body, sum) VALUES ($acceptedAt, $body, checksum($acceptedAt, $body))',
  )
  const addWaiting = database.prepare(
    'INSERT INTO waiting (event, subscription, sum) VALUES ($event, $subscription, checksum($event, $subscription, NULL))',
  )
  const noteTry = database.prepare(
    'UPDATE waiting SET state = $state, sum = checksum(event, subscription, $state) WHERE event = $event AND subscription = $subscription',
  )
  const settle = database.prepare('DELETE FROM waiting WHERE event = ? AND subscription = ?')
  const dropEvent = database.prepare(
    'DELETE FROM event WHERE id = ? AND NOT EXISTS (SELECT 1 FROM waiting WHERE waiting.event = event.id)',
  )
  const forget = database.prepare('DELETE FROM waiting WHERE subscription = ?')
  const dropEvents = database.prepare('DELETE FROM event WHERE id NOT IN (SELECT event FROM waiting)')
  const all = database.prepare(
    'SELECT event.id AS id, accepted_at, body, subscription, state FROM event JOIN waiting ON waiting.event = event.id ORDER BY event.id',
  )
  let changes: Change[] = []
  let timer: NodeJS.Timeout | undefined
  let closed = false

  /** Writes the collected changes, and more. */
  function inTransaction<T>(work: () => T): T {
    const result = transaction(() => {
      for (const { row, subscription, state } of changes) {
        if (row === undefined) forgetAll(subscription)
        else if (state) noteTry.run({ state: JSON.stringify(state), event: row, subscription })
        else if (settle.run(row, subscription).changes) dropEvent.run(row)
      }
      return work()
    })
    changes = []
    return result
  }

  function forgetAll(subscription: string): void {
    if (forget.run(subscription).changes) dropEvents.run()
  }

  function flush(): void {
    clearTimeout(timer)
    timer = undefined
    if (changes.length > 0) inTransaction(() => {})
  }

  function later(change: Change): void {
    if (closed) return
    changes.push({ ...change, subscription: change.subscription.toLowerCase() })
    flushIn(flushMs)
  }

  function flushIn(ms: number): void {
    timer ??= setTimeout(() => {
      timer = undefined
      try {
        flush()
      } catch {
        // The warning was given. The changes stay in memory.
        flushIn(againMs)
      }
    }, ms).unref()
  }

  return {
    accepted(events, acceptedAt) {
      if (events.every(({ subscriptionIds }) => subscriptionIds.length === 0)) return []
      return inTransaction(() =>
        events.map(({ event, subscriptionIds }) => {
          if (subscriptionIds.length === 0) return undefined
          const row = Number(addEvent.run({ acceptedAt, body: writtenEvent(event) }).lastInsertRowid)
          for (const id of subscriptionIds) addWaiting.run({ event: row, subscription: id.toLowerCase() })
          return row
        }),
      )
    },
    tried(subscription, row, state) {
      if (row !== undefined) later({ row, subscription, state })
    },
    settled(subscription, row) {
      if (row !== undefined) later({ row, subscription })
    },
    forget: (subscription) => later({ subscription }),
    // What is parsed is trusted: each row was checked when the file was opened.
    *entries() {
      let last: { readonly row: number; readonly event: AcceptedEvent } | undefined
      for (const { id, accepted_at, body, subscription, state } of all.iterate()) {
        const row = Number(id)
        // One object for all subscriptions of an event, as when it was accepted.
        if (last?.row !== row) last = { row, event: readEvent(String(body)) }
        const tries: TryState = state === null ? { attempts: 0 } : JSON.parse(String(state))
        yield { ...last, subscriptionId: String(subscription), acceptedAt: Number(accepted_at), state: tries }
      }
    },
    /** Writes the last changes, and ignores further ones. */
    close() {
      closed = true
      flush()
    },
  }
}

function writtenEvent(event: AcceptedEvent): string {
  const mapped = event.schema === 'CustomEventSchema' ? `,"mapped":${textOf(event.mapped)}` : ''
  return `{"schema":"${event.schema}","body":${textOf(event.body)}${mapped}}`
}

function readEvent(written: string): AcceptedEvent {
  const parts = memberTexts(written)
  const part = (name: string): EventText => {
    const text = parts.get(name) ?? '{}'
    return eventText(text, JSON.parse(text))
  }
  const schema: AcceptedEvent['schema'] = JSON.parse(parts.get('schema') ?? '')
  return schema === 'CustomEventSchema'
    ? { schema, body: part('body'), mapped: part('mapped') }
    : { schema, body: part('body') }
}
