import type { Logger } from '../core/logger.ts'
import { nearestName } from '../support/nearest-name.ts'
import { quote } from '../support/text.ts'
import { metadataNames } from './new-event.ts'

/** A caller may invent a name for each call: so many names are compared, each once. */
const maxNames = 100

/** No name that is longer can be a typo of a known one. */
const maxNameLength = 20

/** Too many names are near `id`: `ip`, `uid` and others. */
const compared = metadataNames.filter((name) => name !== 'id')

/** Logs one warning of each unknown name that is one edit away from a known one: the event lacks what the caller gave. */
export function createTypoWarning(logger: Logger): (name: string) => void {
  const seen = new Set<string>()
  return (name) => {
    if (seen.size >= maxNames || name.length > maxNameLength || seen.has(name)) return
    seen.add(name)
    const meant = nearestName(name, compared, { maxEdits: 1 })
    if (meant) logger.warn(`create does not know ${quote(name)} in the metadata of a call: did you mean ${meant}?`)
  }
}
