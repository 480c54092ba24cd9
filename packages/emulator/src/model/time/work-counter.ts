/** When nothing is under way at the emulator, and when no event is pending. */
import { realTimers } from '../../../../../src/support/time/clock.ts'

export type WorkCounter = ReturnType<typeof createWorkCounter>

const roundMs = 50
const rounds = 5

/** Counts what the emulator does at the moment: operations, handshakes, deliveries, dead-letters that are written. */
export function createWorkCounter() {
  let underWay = 0
  let steps = 0
  const waiters = createSettledWaiters(() => underWay === 0)

  const idle = async () => {
    // Checked again, since another waiter may have begun new work.
    while (underWay > 0) await waiters.wait()
  }

  return {
    begin(): void {
      underWay++
      steps++
    },
    end(): void {
      underWay--
      steps++
      waiters.check()
    },
    /** Resolves as soon as nothing is under way, at once if nothing is. */
    idle,
    /**
     * Resolves when nothing is under way, or when nothing began or ended for a quarter of a second of real time: a
     * silent subscriber must not stop a manual clock, or its time-out would never come.
     */
    quiet(): Promise<'idle' | 'stalled'> {
      if (underWay === 0) return Promise.resolve('idle')
      return new Promise((resolve) => {
        let seen = steps
        let unchanged = 0
        // In rounds, so that a pause of the process itself counts as one round only.
        const timer = realTimers.setInterval(() => {
          unchanged = steps === seen ? unchanged + 1 : 0
          seen = steps
          if (unchanged >= rounds) done('stalled')
        }, roundMs)
        const done = (state: 'idle' | 'stalled') => {
          realTimers.clearInterval(timer)
          resolve(state)
        }
        void idle().then(() => done('idle'))
      })
    },
  }
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
