/** How many events the next request asks for. */

/** Event Grid hands out at most so many events in one receive. */
export const maxEventsPerReceive = 100

/** The first receive asks for no more: nothing is known of the size of events then. */
export const firstMaxEvents = 16

/**
 * About the largest answer that is asked for. A throughput unit of a namespace sends 2 MB a second, and the locks of all
 * events of an answer begin before its first byte.
 */
const answerBytes = 4 * 2 ** 20

/** Decides how many events a receive asks for at most, by the sizes of those that the last one brought, in bytes. */
export function decideMaxEvents(sizes: readonly number[]): number {
  const total = sizes.reduce((sum, size) => sum + size, 0)
  const fitting = Math.floor((answerBytes * sizes.length) / Math.max(total, 1))
  return Math.min(Math.max(fitting, 1), maxEventsPerReceive)
}

/** What {@link decideReceive} decides from. */
export interface ReceiveState {
  /** Handler calls that are free. */
  readonly free: number
  /** Events that the open receives ask for, one number each. */
  readonly open: readonly number[]
  /** The last receive brought as many events as it asked for, so more are waiting. */
  readonly wasFull: boolean
  /** What {@link decideMaxEvents} has decided. */
  readonly maxEvents: number
}

/**
 * Decides how many events the next receive asks for; 0: no receive now. Never more than the free handler calls, so that
 * no lock ages in a queue. One receive stays open while the queue is empty; more are opened while it is not.
 */
export function decideReceive({ free, open, wasFull, maxEvents }: ReceiveState): number {
  const unasked = free - open.reduce((sum, asked) => sum + asked, 0)
  if (unasked <= 0) return 0
  const next = Math.min(unasked, maxEvents)
  if (open.length === 0) return next
  // A further receive for a few events would cost more than it brings: they come with the next answer.
  return wasFull && next >= maxEventsPerReceive / 2 ? next : 0
}
