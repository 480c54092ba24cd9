/** Which items of a list a `$filter` keeps: the part of OData that Event Grid reads. */
import { armErrors } from './errors.ts'

/** Whether an item is listed, by its texts. Their names are in lower case. */
export type ListFilter = (texts: Readonly<Record<string, string>>) => boolean

/** Far more than a filter needs, and far less than the stack holds. */
const maxDepth = 50

const tokens = /\s*(?:([(),])|'((?:[^']|'')*)'|([A-Za-z]+))\s*/y

type Token = { readonly word: string } | { readonly text: string }

/**
 * Reads `contains(name, 'x')`, `name eq 'x'`, `name ne 'x'`, `not`, `and`, `or` and parentheses, all in any letter case: the
 * specification has `contains(namE, 'PATTERN') and name ne 'PATTERN-1'`. Texts compare without regard to case, as names do. Two quotes
 * within a text are one. Throws an ArmError for anything else.
 *
 * @param fields what may be compared, in lower case
 */
export function parseListFilter(filter: string, fields: readonly string[]): ListFilter {
  const refused = armErrors.invalidRequest(
    `Invalid filter query: '${filter.slice(0, 200)}'. It may compare ${fields.join(', ')} by contains, eq, ne, not, and, or.`,
  )
  const all = tokensOf(filter)
  if (!all) throw refused
  let at = 0

  const wordAt = (): string | undefined => {
    const token = all[at]
    return token && 'word' in token ? token.word : undefined
  }
  const takes = (word: string): boolean => {
    const isNext = wordAt() === word
    if (isNext) at++
    return isNext
  }
  const demand = (word: string): void => {
    if (!takes(word)) throw refused
  }
  const field = (): string => {
    const name = wordAt()
    if (name === undefined || !fields.includes(name)) throw refused
    at++
    return name
  }
  const text = (): string => {
    const token = all[at++]
    if (!token || !('text' in token)) throw refused
    return token.text
  }

  const either = (depth: number): ListFilter => {
    const parts = [both(depth)]
    while (takes('or')) parts.push(both(depth))
    return (texts) => parts.some((part) => part(texts))
  }
  const both = (depth: number): ListFilter => {
    const parts = [one(depth)]
    while (takes('and')) parts.push(one(depth))
    return (texts) => parts.every((part) => part(texts))
  }
  const one = (depth: number): ListFilter => {
    if (depth > maxDepth) throw refused
    if (takes('not')) {
      const part = one(depth + 1)
      return (texts) => !part(texts)
    }
    if (takes('(')) {
      const part = either(depth + 1)
      demand(')')
      return part
    }
    if (takes('contains')) {
      demand('(')
      const name = field()
      demand(',')
      const wanted = text()
      demand(')')
      return (texts) => (texts[name] ?? '').toLowerCase().includes(wanted)
    }
    const name = field()
    const isEqual = takes('eq')
    if (!isEqual) demand('ne')
    const wanted = text()
    return (texts) => ((texts[name] ?? '').toLowerCase() === wanted) === isEqual
  }

  const parsed = either(0)
  if (at < all.length) throw refused
  return parsed
}

/** Words and texts in lower case; undefined where something else stands between them. */
function tokensOf(filter: string): readonly Token[] | undefined {
  const found: Token[] = []
  tokens.lastIndex = 0
  while (tokens.lastIndex < filter.length) {
    const match = tokens.exec(filter)
    if (!match) return undefined
    const [, sign, text, word = ''] = match
    found.push(
      text === undefined ? { word: sign ?? word.toLowerCase() } : { text: text.replaceAll("''", "'").toLowerCase() },
    )
  }
  return found
}
