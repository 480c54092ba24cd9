import { createHash } from 'node:crypto'
import { createPlacedList, type Placed } from '../support/placed-list.ts'
import type { DeliveryEvent } from './delivery.ts'

/** How an event ended that is not to be handled again. An event whose handler threw is, so it is not remembered. */
type SettledOutcome = 'resolved' | 'rejected'

/** An event whose handler runs. */
export interface RunningEvent extends Placed {
  readonly event: DeliveryEvent
}

/** Knows events again when Event Grid delivers them once more. */
export interface Redelivery<R extends RunningEvent> {
  begin(running: R): void
  end(running: R): void
  /** Keeps the outcome of an event for which no 200 went out. Beyond the capacity the oldest is forgotten. */
  remember(event: DeliveryEvent, outcome: SettledOutcome): void
  /** The handling that still runs, the outcome, or undefined: the event is new. */
  find(event: DeliveryEvent): R | SettledOutcome | undefined
}

/**
 * Two events are the same when their bytes are, for these hold source (or topic) and id. While a handler runs the bytes are at hand and
 * compared as they are, and found by id once somebody looks for one; only what must be kept longer is hashed. So an event that is
 * acknowledged before any redelivery comes costs next to nothing.
 *
 * @param capacity Settled events that are remembered.
 */
export function createRedelivery<R extends RunningEvent>(capacity = 10_000): Redelivery<R> {
  /** Not sorted by id yet: most have ended before somebody looks for one. */
  const unsorted = createPlacedList<R>()
  const runningById = new Map<string, R[]>()
  const settled = new Map<string, SettledOutcome>()

  function sort(): void {
    for (const running of unsorted.members) {
      unsorted.remove(running)
      const others = runningById.get(running.event.id)
      if (others) others.push(running)
      else runningById.set(running.event.id, [running])
    }
  }

  return {
    begin: unsorted.add,
    end(running) {
      if (unsorted.remove(running)) return
      const { id } = running.event
      const others = runningById.get(id)
      if (others === undefined) return
      const index = others.indexOf(running)
      if (index !== -1) others.splice(index, 1)
      if (others.length === 0) runningById.delete(id)
    },
    remember(event, outcome) {
      const key = digestOf(event)
      settled.delete(key)
      settled.set(key, outcome)
      const oldest = settled.size > capacity ? settled.keys().next().value : undefined
      if (oldest !== undefined) settled.delete(oldest)
    },
    find(event) {
      sort()
      const running = runningById.get(event.id)?.find((other) => other.event.data.equals(event.data))
      return running ?? (settled.size > 0 ? settled.get(digestOf(event)) : undefined)
    },
  }
}

function digestOf(event: DeliveryEvent): string {
  return createHash('sha256').update(event.data).digest('base64')
}
