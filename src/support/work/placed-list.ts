// List with constant-time add and remove, sparing garbage collection.

/** A member of one {@link PlacedList} at a time. */
export interface Placed {
  /** Its index in the list, or -1. Only the list sets it. */
  place: number
}

/**
 * An unordered list for members that come and go with every event. A Set or Map would allocate a new table each time one is full
 * of deleted entries, and an old table keeps the newer ones alive until V8 collects its old generation. Here each member knows its place,
 * and free places are used again.
 */
export interface PlacedList<T extends Placed> {
  readonly places: (T | undefined)[]
  readonly unused: number[]
}

export function createPlacedList<T extends Placed>(): PlacedList<T> {
  return { places: [], unused: [] }
}

/** Adds a member, in constant time. */
export function place<T extends Placed>({ places, unused }: PlacedList<T>, member: T): void {
  member.place = unused.pop() ?? places.length
  places[member.place] = member
}

/** Removes a member, in constant time. Returns false if it was not in the list. The next member added may get its place. */
export function unplace<T extends Placed>({ places, unused }: PlacedList<T>, member: T): boolean {
  const { place } = member
  if (place === -1 || places[place] !== member) return false
  places[place] = undefined
  unused.push(place)
  member.place = -1
  return true
}

/** The members at this moment: the list may change while they are looked at. */
export function membersOf<T extends Placed>({ places }: PlacedList<T>): readonly T[] {
  return places.filter((member) => member !== undefined)
}

export function countOf<T extends Placed>({ places, unused }: PlacedList<T>): number {
  return places.length - unused.length
}
