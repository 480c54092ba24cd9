import type { LocatedDocument, LocatedScalar, Place } from '../../support/located-yaml.ts'
import { drawExcerpt } from '../../support/source-excerpt.ts'
import { namesAt } from './config-schema.ts'

const words: ReadonlySet<string> = new Set(
  [[], ['clients', 0], ['subscriptions', 0], ['topics', 0], ['eventSubscriptions', 0], ['ingress', 0]].flatMap(namesAt),
)

/** The line of a problem with a caret under it, secrets masked; in a text with a syntax error all but the names of fields. */
export function configExcerpt(
  text: string,
  documents: readonly LocatedDocument[],
  place: Place,
  maxWidth: number,
): string {
  return drawExcerpt(text, place, { documents, isShown, words, maxWidth })
}

/** Keys, connection strings and delivery attributes may be secret, and so may the query of a URL. */
function isShown({ path, isKey, text }: LocatedScalar): boolean {
  if (isKey) return /^[a-z]{1,40}$/i.test(text)
  return !path.some((part) => /secret|key|connectionString|^values?$/i.test(String(part))) && !/[?;]/.test(text)
}
