import { createPlacedList, type Placed } from '../support/placed-list.ts'

/** How an event ended that needs no second handling. An event whose handler threw is handled again, so it is not remembered. */
export type FinalOutcome = 'resolved' | 'rejected'

/** The handling of one event, from the call of the handler to its end. */
export interface RunningEvent extends Placed {
  readonly event: { readonly digest: string }
  /** When its delivery arrived: milliseconds, by the clock of the dispatcher. */
  readonly arrivedAt: number
}

export interface RedeliveryOptions {
  /** Milliseconds. */
  readonly now: () => number
  /** How long a redelivery joins a handling that still runs; later the event is handled anew, in case the handling hangs. */
  readonly joinForMs: number
  /** Outcomes that are remembered. @default 10_000 */
  readonly capacity?: number
}

/** Recognises redelivered events by their digest. */
export function createRedelivery<R extends RunningEvent>(options: RedeliveryOptions) {
  const { now, joinForMs, capacity = 10_000 } = options
  const running = createPlacedList<R>()
  const settled = new Map<string, FinalOutcome>()
  return {
    /** A handler was called. */
    begin: running.add,
    /** It has ended. */
    end: (ended: R) => void running.remove(ended),
    /** Keeps the outcome of an event whose sender does not know it. Beyond the capacity the oldest outcome is forgotten. */
    remember(digest: string, outcome: FinalOutcome): void {
      settled.delete(digest)
      settled.set(digest, outcome)
      const oldest = settled.size > capacity ? settled.keys().next().value : undefined
      if (oldest !== undefined) settled.delete(oldest)
    },
    /** The handling that still runs, the outcome of an ended one, or undefined for a new event. */
    find(digest: string): R | FinalOutcome | undefined {
      const oldestToJoin = now() - joinForMs
      const joinable = running.members.find((other) => other.arrivedAt > oldestToJoin && other.event.digest === digest)
      return joinable ?? settled.get(digest)
    },
  }
}
