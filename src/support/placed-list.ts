/** A member of one {@link PlacedList} at a time. */
export interface Placed {
  /** The list's own: where the member stands in it, from when it comes until it leaves, or -1. */
  place: number
}

/** A list in no order, whose members keep their places. */
export interface PlacedList<T extends Placed> {
  add(member: T): void
  /** False: it was not in the list. Its place goes to who comes next. */
  remove(member: T): boolean
  /** Who stands at a place, if anybody does. */
  at(place: number): T | undefined
  readonly size: number
  /** All that are in the list at the moment. */
  readonly members: readonly T[]
}

/**
 * What comes and goes with every event. A Set or Map would do the same, but makes a new table each time that it has filled one, though all in it is gone
 * again, and a table that is no longer in use still refers to the next: one that has grown old keeps all that come after it in memory until V8 looks
 * through its old generation. Here a member knows its place, and a place that is left is used again.
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
      if (places[place] !== member) return false
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
