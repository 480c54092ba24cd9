import type { Clock } from '../model/clock.ts'

/** The receives that wait for an event, oldest first. */
export interface ReceiveWaits<Taken> {
  /** Takes events as soon as there are some. Resolves empty after `ms`, and when the signal aborts. */
  wait(take: () => readonly Taken[], ms: number, signal: AbortSignal): Promise<readonly Taken[]>
  /** Lets the receives take events until `isLeft` is false. A receive that takes nothing goes on waiting. */
  offer(isLeft: () => boolean): void
  /** Ends all receives without an event. */
  close(): void
}

/** Makes the list of waiting receives, empty at first. `ms` is by this clock. */
export function createReceiveWaits<Taken>(clock: Clock): ReceiveWaits<Taken> {
  const waiting = new Set<{ attempt(): void; leave(): void }>()
  return {
    wait: (take, ms, signal) =>
      new Promise((resolve) => {
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
    offer(isLeft) {
      for (const receive of [...waiting]) {
        if (!isLeft()) break
        receive.attempt()
      }
    },
    close() {
      for (const receive of [...waiting]) receive.leave()
    },
  }
}
