/** Which calls go into one request, and how a call is split over several. */
import type { PublisherLimits } from '../limits.ts'
import type { WireEvent } from '../payload/to-events.ts'

export type RequestBounds = Pick<PublisherLimits, 'maxRequestBytes' | 'maxRequestEvents'>

/** The load of one event, or of all events of a call. */
export interface Load {
  readonly events: number
  /** Bytes of UTF-8 JSON, with the commas between the events. */
  readonly bytes: number
}

export const noLoad: Load = { events: 0, bytes: 0 }

/** Both loads in one request: a comma joins them. Only the first may be of no event. */
export function addLoads(one: Load, other: Load): Load {
  if (one.events === 0) return other
  return { events: one.events + other.events, bytes: one.bytes + 1 + other.bytes }
}

/** Does a load fit into one request? The brackets do not count, so that an event of the maximum size fits. */
export function fits(load: Load, bounds: RequestBounds): boolean {
  return load.events <= bounds.maxRequestEvents && load.bytes <= bounds.maxRequestBytes
}

export function loadOf(events: readonly WireEvent[]): Load {
  return events.reduce<Load>((load, { bytes }) => addLoads(load, { events: 1, bytes }), noLoad)
}

/** The events of one call in as few requests as hold them, in the caller's order (pure): one request unless they exceed it. */
export function splitCall<E extends { readonly bytes: number }>(
  events: readonly E[],
  bounds: RequestBounds,
): readonly (readonly E[])[] {
  const requests: E[][] = []
  let last: E[] = []
  let load = noLoad
  for (const event of events) {
    const own = { events: 1, bytes: event.bytes }
    if (last.length === 0 || !fits(addLoads(load, own), bounds)) {
      last = []
      requests.push(last)
      load = noLoad
    }
    last.push(event)
    load = addLoads(load, own)
  }
  return requests
}

/**
 * Takes calls from the head of the queue, in order, while they are of one schema and fit into one request together (pure): at least one
 * where any waits. A call that exceeds a request on its own is taken alone.
 */
export function joinCalls<C extends { readonly schema: string; readonly load: Load }>(
  waiting: Iterable<C>,
  bounds: RequestBounds,
): readonly C[] {
  const calls: C[] = []
  let load = noLoad
  for (const call of waiting) {
    const grown = addLoads(load, call.load)
    const first = calls[0]
    if (first !== undefined && (first.schema !== call.schema || !fits(grown, bounds))) break
    calls.push(call)
    load = grown
  }
  return calls
}
