/** A map that remembers no more than so many entries: the oldest go. */

/** Sets an entry as the newest of a map, and removes the oldest ones beyond `max`. */
export function keepNewest<K, V>(map: Map<K, V>, key: K, value: V, max: number): void {
  map.delete(key)
  map.set(key, value)
  for (const oldest of map.keys()) {
    if (map.size <= max) return
    map.delete(oldest)
  }
}
