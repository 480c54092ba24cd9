/** The queue of calls: which are sent now, which wait, which share a request, and when a refused request goes in halves. */
import type { PublishCall } from './call.ts'
import { addLoads, fits, type Load, noLoad, type RequestBounds } from './limits.ts'

/** How a joint request ended: every call is settled, or the halves of it are to be sent separately. */
export type SendOutcome = 'settled' | 'halve'

/**
 * Sends calls in one request, or one call in several. Never rejects. Calls `onBackOff(true)` before a pause and `onBackOff(false)` after it.
 */
type Send = (calls: readonly PublishCall[], onBackOff: (waits: boolean) => void) => Promise<SendOutcome>

/**
 * After a request, waiting calls are held for so many milliseconds, so that its callers can call again and join them. A caller behind a
 * sidecar takes half a millisecond.
 */
const returnMs = 1

/** The waiting calls and the requests under way. */
export function createRequestQueue(limits: RequestBounds & { readonly maxRequests: number }, send: Send) {
  /** In order of arrival. */
  const waiting: PublishCall[] = []
  /** Halves of refused requests. They are sent first and never joined again. */
  const halves: (readonly PublishCall[])[] = []
  /** The calls of each request under way. */
  const running: (readonly PublishCall[])[] = []
  const idlers: (() => void)[] = []
  let backingOff = 0
  /** Requests that have just ended: their callers may call again within this tick. */
  let settling = 0
  /** The next request starts when so many calls wait, or when the hold is over. */
  let held: { readonly calls: number; readonly timer: NodeJS.Timeout } | undefined

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
    // Calls wait for the request under way and share the next one, unless they fill one already.
    if (running.some(isJoint) && !full()) return undefined
    const calls = joinCalls(waiting, limits)
    if (calls.length === 0) return undefined
    take(0, calls.length)
    return calls
  }

  const run = async (calls: readonly PublishCall[]) => {
    running.push(calls)
    try {
      const outcome = await send(calls, (waits) => {
        backingOff += waits ? 1 : -1
      })
      if (outcome === 'halve') {
        // A joint request has two calls at least.
        const middle = Math.ceil(calls.length / 2)
        halves.push(calls.slice(0, middle), calls.slice(middle))
      }
    } finally {
      running.splice(running.indexOf(calls), 1)
      settling += 1
      const all = waiting.length + calls.length
      process.nextTick(() => {
        settling -= 1
        // Nothing waits: the next call is sent at once.
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
    // A topic that throttles one request throttles a parallel one as well.
    while (running.length < limits.maxRequests && (running.length === 0 || backingOff === 0)) {
      const calls = next()
      if (!calls) break
      void run(calls)
    }
    if (running.length === 0 && waiting.length === 0) {
      for (const idler of idlers.splice(0)) idler()
    }
  }

  return {
    /** Appends a call. It is sent at once if nothing is under way. */
    add(call: PublishCall): void {
      waiting.push(call)
      load.events += call.load.events
      // A comma goes with each call but one.
      load.bytes += call.load.bytes + 1
      if (held && (waiting.length >= held.calls || full())) release()
      else pump()
    },
    remove(call: PublishCall): void {
      const index = waiting.indexOf(call)
      if (index !== -1) take(index, 1)
    },
    /** The calls that are not settled: those that wait, and those under way. */
    open: () => [...running, ...halves, waiting].flat().filter(({ settled }) => !settled),
    /** Resolves when nothing waits and nothing is under way. */
    idle: () =>
      new Promise<void>((resolve) => {
        idlers.push(resolve)
        pump()
      }),
  }
}

/** A call in several requests takes long: the others do not wait for it. */
const isJoint = (calls: readonly PublishCall[]) => calls.some(({ requests }) => requests.length === 1)

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
