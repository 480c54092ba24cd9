/** Things, each under a number that stays the same until it is let go. */
export interface Slots<T> {
  /** Takes a thing in and says its number. */
  put(thing: T): number
  /** What stands under a number, if anything does. */
  at(slot: number): T | undefined
  /** Lets go what stands under a number, which the next thing may get. */
  free(slot: number): void
  readonly size: number
  /** All that is there at the moment, in no order. */
  readonly things: readonly T[]
}

/** For what comes and goes with every event and is looked for by number: a Map would cost what placed-list.ts tells of a Set. */
export function createSlots<T extends object>(): Slots<T> {
  const places: (T | undefined)[] = []
  const unused: number[] = []
  return {
    put(thing) {
      const slot = unused.pop() ?? places.length
      places[slot] = thing
      return slot
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
