/** Bounds the pieces of work at once, first come first served. */

/** A limited number of places, at least one, for work that runs at once. */
export function createSlots(count: number) {
  let free = count
  const waiting = new Set<() => void>()

  function leave(): void {
    const [next] = waiting
    if (next) next()
    else free++
  }

  function enter(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const take = () => {
        waiting.delete(take)
        signal.removeEventListener('abort', giveUp)
        resolve()
      }
      const giveUp = () => {
        waiting.delete(take)
        reject(signal.reason)
      }
      waiting.add(take)
      signal.addEventListener('abort', giveUp, { once: true })
    })
  }

  return {
    /** Runs the work when a place is free, first come first served. @throws the reason of `signal` when it aborts before that */
    async run<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
      signal.throwIfAborted()
      if (free > 0) free--
      else await enter(signal)
      try {
        return await work()
      } finally {
        leave()
      }
    },
  }
}
