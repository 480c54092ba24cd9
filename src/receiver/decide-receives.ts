/** Event Grid hands out at most so many events in one receive. */
export const maxEventsPerReceive = 100

/** What {@link decideReceive} decides from. */
export interface ReceiveState {
  /** Handler calls that are free. */
  readonly free: number
  /** Events that the open receives ask for, one number each. */
  readonly open: readonly number[]
  /** The last receive brought as many events as it asked for, so more are waiting. */
  readonly wasFull: boolean
}

/**
 * Decides how many events the next receive asks for; 0: no receive now. Never more than the free handler calls, so that
 * no lock ages in a queue. One receive stays open while the queue is empty; more are opened while it is not.
 */
export function decideReceive({ free, open, wasFull }: ReceiveState): number {
  const unasked = free - open.reduce((sum, asked) => sum + asked, 0)
  if (unasked <= 0) return 0
  const next = Math.min(unasked, maxEventsPerReceive)
  if (open.length === 0) return next
  // A further receive for a few events would cost more than it brings: they come with the next answer.
  return wasFull && next >= maxEventsPerReceive / 2 ? next : 0
}
