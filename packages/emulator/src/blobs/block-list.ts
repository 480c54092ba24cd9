/** The blocks that the body of PutBlockList names, in order. */
import type { ListedBlock } from './known-blobs.ts'

/** Ids are base64, so nothing in them is escaped. */
const entry = /<(Committed|Uncommitted|Latest)>\s*([A-Za-z0-9+/=_-]*)\s*<\/\1>/g

export function parseBlockList(xml: string): readonly ListedBlock[] {
  return [...xml.matchAll(entry)].flatMap(([, from, id]) => {
    return id !== undefined && (from === 'Committed' || from === 'Uncommitted' || from === 'Latest')
      ? [{ id, from }]
      : []
  })
}
