/** A member of one {@link PlacedList} at a time. */
export interface Placed {
  /** The list's own: where the member stands in it, or -1. */
  place: number
}

/** A list in no order. */
export interface PlacedList<T extends Placed> {
  add(member: T): void
  /** False: it was not in the list. */
  remove(member: T): boolean
  readonly members: readonly T[]
}

/**
 * What comes and goes with every event. A Set would do the same, but makes a new table each time that it has filled one, though all in it is gone again,
 * and a table that is no longer in use still refers to the next: one that has grown old keeps all that come after it in memory until V8 looks through
 * its old generation. Here a member's leaving is noted in the member, and the last one takes its place.
 */
export function createPlacedList<T extends Placed>(): PlacedList<T> {
  const members: T[] = []
  return {
    add(member) {
      member.place = members.length
      members.push(member)
    },
    remove(member) {
      const { place } = member
      if (members[place] !== member) return false
      const last = members.pop()
      if (last !== undefined && last !== member) {
        members[place] = last
        last.place = place
      }
      member.place = -1
      return true
    },
    members,
  }
}
