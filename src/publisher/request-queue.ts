import { fits, halve, joinCalls, type RequestBounds } from './plan-requests.ts'
import type { PublishCall } from './publish-call.ts'

/** How sending some calls together ended: settled one way or the other, or refused so that halves of them may fare better. */
export type SendOutcome = 'settled' | 'halve'

/** What {@link createRequestQueue} needs. */
export interface RequestQueueOptions {
  readonly limits: RequestBounds & { readonly maxRequests: number }
  /**
   * Sends calls in one request, or one call in several. Never rejects. `onBackOff` tells when it waits to try again, and when it no longer does.
   */
  readonly send: (calls: readonly PublishCall[], onBackOff: (waits: boolean) => void) => Promise<SendOutcome>
}

/** Calls that wait, and the requests under way. */
export interface RequestQueue {
  /** Puts a call at the end; it goes out at once if nothing is under way. */
  add(call: PublishCall): void
  /** Takes a call out if it still waits. */
  remove(call: PublishCall): void
  /** Resolves when nothing waits and nothing is under way. */
  idle(): Promise<void>
}

/**
 * Milliseconds in which the callers of a request are expected to call again, if calls wait already. Without waiting for them these would go, and they
 * would wait for the next; a caller who is not in this process, but behind a sidecar, takes half a millisecond.
 */
const returnMs = 1

/** Makes the queue that joins waiting calls into requests. */
export function createRequestQueue({ limits, send }: RequestQueueOptions): RequestQueue {
  /** In order of arrival. No Set, for the reason that placed-list.ts gives. */
  const waiting: PublishCall[] = []
  /** Halves of refused requests: they come first, and are never joined again. */
  const halves: (readonly PublishCall[])[] = []
  const idlers: (() => void)[] = []
  let running = 0
  let runningJoint = 0
  let backingOff = 0
  /** Requests that have just ended: their callers are told within this tick and may well call again at once. */
  let settling = 0
  /** The next request waits until so many calls wait for it, or the time is over. */
  let held: { readonly calls: number; readonly timer: NodeJS.Timeout } | undefined

  /** What waits altogether, so that a call that comes need not count the others. */
  const load = { events: 0, bytes: 0 }

  /** Do the waiting calls fill a request? The last of them has no comma. */
  const full = () => !fits({ ...load, bytes: load.bytes - 1 }, limits)

  const take = (start: number, count: number) => {
    for (const call of waiting.splice(start, count)) {
      load.events -= call.load.events
      load.bytes -= call.load.bytes + 1
    }
  }

  const next = (): readonly PublishCall[] | undefined => {
    const half = halves.shift()
    if (half) return half
    // While a request is under way, the others wait for it and go together; they need not once they fill another.
    if (runningJoint > 0 && !full()) return undefined
    const calls = joinCalls(waiting, limits)
    if (calls.length === 0) return undefined
    take(0, calls.length)
    return calls
  }

  const run = async (calls: readonly PublishCall[]) => {
    // One call in several requests takes its time: the others need not wait for it.
    const joint = calls.some(({ requests }) => requests.length === 1) ? 1 : 0
    running += 1
    runningJoint += joint
    try {
      const outcome = await send(calls, (waits) => {
        backingOff += waits ? 1 : -1
      })
      if (outcome === 'halve') halves.push(...halve(calls))
    } finally {
      running -= 1
      runningJoint -= joint
      settling += 1
      const all = waiting.length + calls.length
      process.nextTick(() => {
        settling -= 1
        // Nobody who waits: whoever comes next goes at once.
        if (waiting.length > 0 && waiting.length < all) held ??= { calls: all, timer: setTimeout(release, returnMs) }
        pump()
      })
    }
  }

  const release = () => {
    clearTimeout(held?.timer)
    held = undefined
    pump()
  }

  const pump = () => {
    if (settling > 0 || held) return
    // A topic that throttles one request would throttle the one beside it too.
    while (running < limits.maxRequests && (running === 0 || backingOff === 0)) {
      const calls = next()
      if (!calls) break
      void run(calls)
    }
    if (running === 0 && waiting.length === 0) {
      for (const idler of idlers.splice(0)) idler()
    }
  }

  return {
    add(call) {
      waiting.push(call)
      load.events += call.load.events
      // A comma goes with each call but one.
      load.bytes += call.load.bytes + 1
      if (held && (waiting.length >= held.calls || full())) release()
      else pump()
    },
    remove(call) {
      const index = waiting.indexOf(call)
      if (index !== -1) take(index, 1)
    },
    idle: () =>
      new Promise((resolve) => {
        idlers.push(resolve)
        pump()
      }),
  }
}
