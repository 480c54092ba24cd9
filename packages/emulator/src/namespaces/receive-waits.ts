// Receives that wait for an event (long polling), oldest first.
import type { Clock } from '../model/time/clock.ts'

/** The receives that wait for an event, oldest first. */
export function createReceiveWaits<Taken>(clock: Clock) {
  const waiting = new Set<{ attempt(): void; leave(): void }>()
  return {
    /** Takes events as soon as there are some. Resolves empty after `ms` of the clock, and when the signal aborts. */
    wait: (take: () => readonly Taken[], ms: number, signal: AbortSignal) =>
      new Promise<readonly Taken[]>((resolve) => {
        const end = (taken: readonly Taken[]) => {
          cancel()
          waiting.delete(receive)
          signal.removeEventListener('abort', receive.leave)
          resolve(taken)
        }
        const receive = {
          attempt() {
            const taken = take()
            if (taken.length > 0) end(taken)
          },
          leave: () => end([]),
        }
        const cancel = clock.setTimer(ms, receive.leave)
        signal.addEventListener('abort', receive.leave)
        waiting.add(receive)
        if (signal.aborted) receive.leave()
        else receive.attempt()
      }),
    /** Lets the receives take events until `isLeft` is false. A receive that takes nothing goes on waiting. */
    offer(isLeft: () => boolean): void {
      for (const receive of [...waiting]) {
        if (!isLeft()) break
        receive.attempt()
      }
    },
    /** Ends all receives without an event. */
    close(): void {
      for (const receive of [...waiting]) receive.leave()
    },
  }
}
