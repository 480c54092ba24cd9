/** Which record makes room where all would hold too many bytes: ended well, then under way, then failed, then waiting. */
/** The ranks of records: those of a lower rank make room first. */
export const ranks = ['ended', 'under way', 'failed', 'waiting'] as const

export type Rank = (typeof ranks)[number]

interface Kept {
  rank: Rank
  bytes: number
  /** The bytes that were recorded until then, its own included: how old it is. */
  readonly until: number
}

/** The records of one kind. */
export interface RecordShelf<T> {
  readonly size: number
  has(record: T): boolean
  /** Adds a record, the newest. One that is larger than all the memory is left out at once. */
  add(record: T, rank: Rank, bytes: number): void
  /** A record that is there became another one, or larger. */
  changed(record: T, rank: Rank, bytes: number): void
  /** How many are there of a rank. */
  count(rank: Rank): number
  /** Removes a record, which is not left out. */
  remove(record: T): void
  /** In no certain order. */
  all(): T[]
  clear(): void
}

export type Memory = ReturnType<typeof createMemory>

/** Makes the memory that the records of all kinds share. The newest tenth of the bytes is kept, whatever the rank. */
export function createMemory(maxBytes: number) {
  const shelves: { oldest(rank: Rank): { readonly until: number; leave(): void } | undefined }[] = []
  let held = 0
  let recorded = 0

  function oldestOf(rank: Rank) {
    const all = shelves.flatMap((shelf) => shelf.oldest(rank) ?? [])
    return all.reduce((first, one) => (one.until < first.until ? one : first), all[0] ?? noRecord)
  }

  function makeRoom(): void {
    if (held <= maxBytes) return
    for (const spared of [maxBytes / 10, 0]) {
      for (const rank of ranks) {
        let oldest = oldestOf(rank)
        while (held > maxBytes && recorded - oldest.until >= spared) {
          oldest.leave()
          oldest = oldestOf(rank)
        }
      }
    }
  }

  return {
    /** Makes a place for records of one kind. @param left is called for each that is left out */
    shelf<T extends object>(left: (record: T) => void): RecordShelf<T> {
      const kept = new Map<T, Kept>()
      /** The oldest of a rank come first. */
      const byRank = new Map(ranks.map((rank) => [rank, new Set<T>()]))

      function take(record: T): void {
        const { rank, bytes } = kept.get(record) ?? nothing
        kept.delete(record)
        byRank.get(rank)?.delete(record)
        held -= bytes
      }

      function leave(record: T): void {
        take(record)
        left(record)
      }

      shelves.push({
        oldest(rank) {
          for (const record of byRank.get(rank) ?? []) {
            return { until: kept.get(record)?.until ?? 0, leave: () => leave(record) }
          }
          return undefined
        },
      })

      return {
        get size() {
          return kept.size
        },
        has: (record) => kept.has(record),
        add(record, rank, bytes) {
          if (bytes > maxBytes) return left(record)
          recorded += bytes
          held += bytes
          kept.set(record, { rank, bytes, until: recorded })
          byRank.get(rank)?.add(record)
          makeRoom()
        },
        changed(record, rank, bytes) {
          const known = kept.get(record)
          if (!known) return
          held += bytes - known.bytes
          if (rank !== known.rank) {
            byRank.get(known.rank)?.delete(record)
            byRank.get(rank)?.add(record)
          }
          Object.assign(known, { rank, bytes })
          makeRoom()
        },
        count: (rank) => byRank.get(rank)?.size ?? 0,
        remove: take,
        all: () => [...kept.keys()],
        clear() {
          for (const record of kept.keys()) take(record)
        },
      }
    },
  }
}

const nothing: Kept = { rank: 'ended', bytes: 0, until: 0 }

/** Stands where there is none: too new to be left out. */
const noRecord = { until: Number.POSITIVE_INFINITY, leave() {} }
