/** When nothing is under way at the emulator, and when no event is pending. */
import { once } from 'node:events'
import { type Clock, pause, realTimers } from '../../../../../src/support/time/clock.ts'

export type WorkCounter = ReturnType<typeof createWorkCounter>

/** Counts what the emulator does at the moment: operations, handshakes, deliveries, dead-letters that are written. */
export function createWorkCounter() {
  let underWay = 0
  const waiters = createSettledWaiters(() => underWay === 0)

  return {
    begin(): void {
      underWay++
    },
    end(): void {
      underWay--
      waiters.check()
    },
    /** Has work that is under way wait by the clock. It is no work under way meanwhile: a manual clock moves only when none is. */
    async pause(clock: Pick<Clock, 'setTimer'>, ms: number, signal: AbortSignal): Promise<void> {
      underWay--
      waiters.check()
      await pause(clock, ms, signal)
      underWay++
    },
    /** Resolves as soon as nothing is under way, at once if nothing is. */
    async idle(): Promise<void> {
      // Checked again, since another waiter may have begun new work.
      while (underWay > 0) await waiters.wait()
    },
  }
}

/**
 * Waits for handshakes: an event that is published before an endpoint has consented goes nowhere.
 *
 * @param mostMs in real milliseconds: an endpoint may be silent
 */
export async function awaitHandshakes(ended: Promise<unknown>, mostMs = 5_000): Promise<void> {
  await Promise.race([ended, once(realTimers.abortAfter(mostMs), 'abort')])
}

/** Callers that wait until nothing is pending. */
export function createSettledWaiters(isSettled: () => boolean) {
  const waiting = new Set<() => void>()
  const check = () => {
    if (waiting.size > 0 && isSettled()) for (const settle of waiting) settle()
  }
  return {
    /** To be called when something is no longer pending. */
    check,
    /** Resolves when nothing is pending, at once if nothing is. Rejects with the signal's reason. */
    async wait(signal?: AbortSignal): Promise<void> {
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      const abort = () => reject(signal?.reason)
      signal?.addEventListener('abort', abort)
      waiting.add(resolve)
      check()
      await promise.finally(() => waiting.delete(resolve))
      signal?.removeEventListener('abort', abort)
    },
  }
}
