// Abort signal per request: time limit or the caller's abort, without leaks.
import type { Clock } from '../time/clock.ts'
import { createPlacedList, membersOf, type Placed, type PlacedList, place, unplace } from './placed-list.ts'

/** A request that is under way. */
interface OpenRequest extends Placed {
  readonly controller: AbortController
}

/**
 * Signals for requests: each aborts with the signal of its caller, or when its time is over.
 *
 * A caller's signal has one listener, however many requests there are. Node chains the listeners of a signal, and one that was
 * removed still refers to the next: each request would keep the next alive until V8 collects its old generation.
 * `AbortSignal.timeout` would keep its timer after the request, and thousands of them would wake the process.
 */
export function createRequestLimits(clock: Clock) {
  const opened = new WeakMap<AbortSignal, PlacedList<OpenRequest>>()

  function requestsOf(signal: AbortSignal): PlacedList<OpenRequest> {
    const known = opened.get(signal)
    if (known) return known
    const requests = createPlacedList<OpenRequest>()
    opened.set(signal, requests)
    signal.addEventListener('abort', () => {
      for (const { controller } of membersOf(requests)) controller.abort()
    })
    return requests
  }

  return {
    /** @param ms how long the request may take */
    begin(signal: AbortSignal, ms: number): { readonly signal: AbortSignal; end(): void } {
      const request: OpenRequest = { controller: new AbortController(), place: -1 }
      const { controller } = request
      const requests = requestsOf(signal)
      place(requests, request)
      const cancel = clock.setTimer(ms, () => controller.abort())
      if (signal.aborted) controller.abort()
      return {
        signal: controller.signal,
        end() {
          cancel()
          unplace(requests, request)
        },
      }
    },
  }
}
