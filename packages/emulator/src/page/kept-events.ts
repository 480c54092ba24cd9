// Which events the page keeps where there are too many: the newest, then those that wait, those that failed, and the others.

/** What becomes of an event, in the order in which events make room for others. */
export const keptRanks = ['ended', 'under way', 'failed', 'waiting'] as const

export type KeptRank = (typeof keptRanks)[number]

/** Of the events that are left out. */
export interface LeftOut {
  readonly events: number
  readonly failed: number
  readonly waiting: number
}

/** Made by {@link createKeptEvents}. @param limit the most events: a tenth of them, at least one, are the newest whatever became of them */
export function createKeptEvents<Event extends { readonly key: number }>(
  limit: number,
  rankOf: (event: Event) => KeptRank,
) {
  /** The oldest of a rank come first. */
  const kept = new Map(keptRanks.map((rank) => [rank, new Map<number, Event>()]))
  /** How many are left out, and those of them that may still change. */
  const left = new Map(keptRanks.map((rank) => [rank, 0]))
  const open = new Map<number, Event>()
  const ranks = new WeakMap<Event, KeptRank>()
  const newest = Math.ceil(limit / 10)
  let size = 0
  let lastKey = 0

  const place = (event: Event) => kept.get(ranks.get(event) ?? 'ended')
  const has = (event: Event) => place(event)?.has(event.key) ?? false

  function take(event: Event): void {
    place(event)?.delete(event.key)
    size--
  }

  function put(event: Event): void {
    place(event)?.set(event.key, event)
    size++
  }

  function leaveOut(event: Event): void {
    const rank = ranks.get(event) ?? 'ended'
    left.set(rank, (left.get(rank) ?? 0) + 1)
    if (rank === 'under way' || rank === 'waiting') open.set(event.key, event)
  }

  function bringBack(event: Event): void {
    const rank = ranks.get(event) ?? 'ended'
    left.set(rank, (left.get(rank) ?? 0) - 1)
    open.delete(event.key)
  }

  /** Leaves out the first event, by rank and age, of a rank below that one. Returns it. */
  function makeRoom(below: number): Event | undefined {
    for (const rank of keptRanks.slice(0, below)) {
      for (const event of kept.get(rank)?.values() ?? []) {
        if (event.key > lastKey - newest) continue
        take(event)
        leaveOut(event)
        return event
      }
    }
    return undefined
  }

  return {
    /** Adds an event, the newest. Returns the one that it takes the place of. */
    add(event: Event): Event | undefined {
      lastKey = event.key
      ranks.set(event, rankOf(event))
      put(event)
      return size > limit ? makeRoom(keptRanks.length) : undefined
    },
    /** An event changed: one that was left out comes back when it waits or failed. Returns the one that it takes the place of. */
    changed(event: Event): Event | undefined {
      const [former, rank] = [ranks.get(event), rankOf(event)]
      if (former === undefined || former === rank) return undefined
      const wasKept = has(event)
      if (wasKept) take(event)
      else bringBack(event)
      ranks.set(event, rank)
      const returns = !wasKept && (rank === 'failed' || rank === 'waiting')
      const gone = returns ? makeRoom(keptRanks.indexOf(rank)) : undefined
      if (wasKept || gone) put(event)
      else leaveOut(event)
      return gone
    },
    has,
    /** Those that are left out and may still change. */
    open: () => [...open.values()],
    /** Newest first. */
    all: (): Event[] => [...kept.values()].flatMap((one) => [...one.values()]).sort((a, b) => b.key - a.key),
    find: (key: number): Event | undefined =>
      [...kept.values()].map((one) => one.get(key)).find((event) => event !== undefined),
    /** Forgets all, and what was left out. */
    clear(): void {
      for (const one of kept.values()) one.clear()
      for (const rank of keptRanks) left.set(rank, 0)
      open.clear()
      size = 0
    },
    leftOut: (): LeftOut => ({
      events: [...left.values()].reduce((sum, one) => sum + one, 0),
      failed: left.get('failed') ?? 0,
      waiting: left.get('waiting') ?? 0,
    }),
  }
}
