/** A member of one {@link PlacedList} at a time. */
export interface Placed {
  /** Its index in the list, or -1. Only the list sets it. */
  place: number
}

/** An unordered list that adds and removes in constant time. */
export interface PlacedList<T extends Placed> {
  add(member: T): void
  /** Returns false if it was not in the list. The next member added may get its place. */
  remove(member: T): boolean
  at(place: number): T | undefined
  readonly size: number
  readonly members: readonly T[]
}

/**
 * A list for members that come and go with every event. A Set or Map would allocate a new table each time one is full
 * of deleted entries, and an old table keeps the
 * newer ones alive until V8 collects its old generation. Here each member knows its place, and free places are used again.
 */
export function createPlacedList<T extends Placed>(): PlacedList<T> {
  const places: (T | undefined)[] = []
  const unused: number[] = []
  return {
    add(member) {
      member.place = unused.pop() ?? places.length
      places[member.place] = member
    },
    remove(member) {
      const { place } = member
      if (place === -1 || places[place] !== member) return false
      places[place] = undefined
      unused.push(place)
      member.place = -1
      return true
    },
    at: (place) => places[place],
    get size() {
      return places.length - unused.length
    },
    get members() {
      return places.filter((member) => member !== undefined)
    },
  }
}
