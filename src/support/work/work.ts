/** Work that nobody waits for, work that waits for its turn, and a memory that is bounded. */

/** @param failed gets what the work rejects with; what it throws itself is dropped */
export function inBackground(work: Promise<unknown>, failed: (error: unknown) => void): void {
  work.catch(failed).catch(() => {})
}

/** Makes a function that runs pieces of work in the order of its calls. The caller gets the result or the error of its own. */
export function createTurns() {
  let last: Promise<unknown> = Promise.resolve()
  return function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = last.then(work)
    last = result.catch(() => {})
    return result
  }
}

/** Sets an entry as the newest of a map, and removes the oldest ones beyond `max`. */
export function keepNewest<K, V>(map: Map<K, V>, key: K, value: V, max: number): void {
  map.delete(key)
  map.set(key, value)
  for (const oldest of map.keys()) {
    if (map.size <= max) return
    map.delete(oldest)
  }
}
