// Recognition of events delivered twice: 10,000 remembered outcomes, join of running ones.
import { createPlacedList, membersOf, type Placed, type PlacedList } from '../support/work/placed-list.ts'

/** How an event ended that needs no second handling. An event whose handler threw is handled again, so it is not remembered. */
export type FinalOutcome = 'resolved' | 'rejected'

/** The handling of one event, from the call of the handler to its end. */
export interface RunningEvent extends Placed {
  readonly event: { readonly digest: string }
  /** When its delivery arrived: milliseconds, by the clock of the dispatcher. */
  readonly arrivedAt: number
}

/** What is known of events that may be delivered again, by their digest. */
export interface Redelivery<R extends RunningEvent> {
  /** The handler calls that have not ended. */
  readonly running: PlacedList<R>
  /** Outcomes that the sender does not know. */
  readonly settled: Map<string, FinalOutcome>
  readonly capacity: number
}

/** @param capacity outcomes that are remembered */
export function createRedelivery<R extends RunningEvent>(capacity = 10_000): Redelivery<R> {
  return { running: createPlacedList(), settled: new Map(), capacity }
}

/** Keeps the outcome of an event whose sender does not know it. Beyond the capacity the oldest outcome is forgotten. */
export function remember<R extends RunningEvent>(
  { settled, capacity }: Redelivery<R>,
  digest: string,
  outcome: FinalOutcome,
): void {
  settled.delete(digest)
  settled.set(digest, outcome)
  const oldest = settled.size > capacity ? settled.keys().next().value : undefined
  if (oldest !== undefined) settled.delete(oldest)
}

/**
 * The handling that still runs, the outcome of an ended one, or undefined for a new event. A handling whose delivery arrived before
 * `since` is not joined: it may hang.
 */
export function findEarlier<R extends RunningEvent>(
  { running, settled }: Redelivery<R>,
  digest: string,
  since: number,
): R | FinalOutcome | undefined {
  const joinable = membersOf(running).find((other) => other.arrivedAt > since && other.event.digest === digest)
  return joinable ?? settled.get(digest)
}
