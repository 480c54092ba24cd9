/** Things, each under a number that stays the same until it is let go. Numbers are used again, so they stay small. */
export interface Slots<T> {
  /** The number that the next thing gets. */
  readonly next: number
  put(thing: T): void
  at(slot: number): T | undefined
  free(slot: number): void
  readonly size: number
  readonly things: Iterable<T>
}

/** A Map with an entry for each event makes a new table every few events, which V8 looks through again and again; here a number is used again as soon as it is free. */
export function createSlots<T extends object>(): Slots<T> {
  const places: (T | undefined)[] = []
  const unused: number[] = []
  const next = () => unused.at(-1) ?? places.length
  return {
    get next() {
      return next()
    },
    put(thing) {
      places[next()] = thing
      unused.pop()
    },
    at: (slot) => places[slot],
    free(slot) {
      if (places[slot] === undefined) return
      places[slot] = undefined
      unused.push(slot)
    },
    get size() {
      return places.length - unused.length
    },
    get things() {
      return places.filter((thing) => thing !== undefined)
    },
  }
}
