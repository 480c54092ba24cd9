/** What is remembered of blobs and their blocks, in memory and bounded: events have lengths and types that no single request has. */
import type { BlobPlace } from './blob-call.ts'

/** What is known of a blob. */
export interface BlobFacts {
  readonly contentType?: string
  readonly contentLength?: number
  readonly blobType?: string
  /** `Default` where nobody chose one. */
  readonly accessTier?: string
}

/** A block that a block list names, and among which blocks it is looked for. */
export interface ListedBlock {
  readonly id: string
  readonly from: 'Committed' | 'Uncommitted' | 'Latest'
}

type BlockSizes = ReadonlyMap<string, number>

interface KnownBlob {
  readonly facts: BlobFacts | undefined
  /** Undefined where they are not known. */
  readonly committed: BlockSizes | undefined
  readonly uncommitted: Map<string, number>
}

const nothing: BlockSizes = new Map()

/** @param limit blobs and blocks in all; the blob that was not written for the longest time is forgotten first. @default 200_000 */
export function createKnownBlobs(limit = 200_000) {
  const blobs = new Map<string, KnownBlob>()
  let size = 0
  const sizeOf = ({ committed, uncommitted }: KnownBlob) => 1 + (committed?.size ?? 0) + uncommitted.size

  function forget(key: string): void {
    const known = blobs.get(key)
    if (!known) return
    size -= sizeOf(known)
    blobs.delete(key)
  }

  function put(key: string, blob: KnownBlob): void {
    forget(key)
    blobs.set(key, blob)
    size += sizeOf(blob)
    for (const oldest of blobs.keys()) {
      if (size <= limit) break
      forget(oldest)
    }
  }

  return {
    facts: (key: string): BlobFacts | undefined => blobs.get(key)?.facts,
    /** What a read said of a blob. */
    learn(key: string, facts: BlobFacts): void {
      const { committed, uncommitted = new Map() } = blobs.get(key) ?? {}
      put(key, { facts, committed, uncommitted })
    },
    /** A blob that was written whole: it has no blocks. */
    wrote: (key: string, facts: BlobFacts) => put(key, { facts, committed: nothing, uncommitted: new Map() }),
    /** A blob that was copied, with the blocks of its source. */
    copied(key: string, source: string | undefined, facts: BlobFacts | undefined): void {
      const { committed } = (source === undefined ? undefined : blobs.get(source)) ?? {}
      put(key, { facts, committed, uncommitted: new Map() })
    },
    /** A block that waits for a block list; `bytes` undefined where they are not known. */
    staged(key: string, id: string, bytes: number | undefined): void {
      const known = blobs.get(key) ?? { facts: undefined, committed: undefined, uncommitted: new Map<string, number>() }
      // Not copied: a blob may have 50,000 blocks.
      forget(key)
      if (bytes === undefined) known.uncommitted.delete(id)
      else known.uncommitted.set(id, bytes)
      put(key, known)
    },
    /** The length that a list of blocks makes; undefined where a block is not known. */
    lengthOf(key: string, list: readonly ListedBlock[]): number | undefined {
      const known = blobs.get(key)
      let bytes = 0
      for (const block of list) {
        const own = blockSize(known, block)
        if (own === undefined) return undefined
        bytes += own
      }
      return bytes
    },
    /** A block list was written: its blocks are the blob now. */
    committed(key: string, list: readonly ListedBlock[] | undefined, facts: BlobFacts): void {
      const known = blobs.get(key)
      const sizes = list?.map((block) => [block.id, blockSize(known, block)] as const)
      const isKnown = (pair: readonly [string, number | undefined]): pair is readonly [string, number] =>
        pair[1] !== undefined
      const committed = sizes?.every(isKnown) ? new Map(sizes) : undefined
      put(key, { facts, committed, uncommitted: new Map() })
    },
    forget,
    /** Forgets the blobs whose keys begin with that of their container. */
    forgetContainer(container: string): void {
      for (const key of blobs.keys()) if (key.startsWith(container)) forget(key)
    },
  }
}

function blockSize(known: KnownBlob | undefined, { id, from }: ListedBlock): number | undefined {
  const committed = () => known?.committed?.get(id)
  const uncommitted = () => known?.uncommitted.get(id)
  if (from === 'Committed') return committed()
  return from === 'Uncommitted' ? uncommitted() : (uncommitted() ?? committed())
}

/** The key of a blob, or of a container, whose blob is empty: neither account nor container has a slash in its name. */
export const keyOfBlob = ({ account, container, blob }: Pick<BlobPlace, 'account' | 'container' | 'blob'>) =>
  `${account}/${container}/${blob}`

/** Ids are base64, so nothing in them is escaped. */
const entry = /<(Committed|Uncommitted|Latest)>\s*([A-Za-z0-9+/=_-]*)\s*<\/\1>/g

/** The blocks that the body of PutBlockList names, in order. */
export function parseBlockList(xml: string): readonly ListedBlock[] {
  return [...xml.matchAll(entry)].flatMap(([, from, id]) => {
    return id !== undefined && (from === 'Committed' || from === 'Uncommitted' || from === 'Latest')
      ? [{ id, from }]
      : []
  })
}
