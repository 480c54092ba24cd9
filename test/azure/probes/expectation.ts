/** What an answer should be, as a pattern, and where an answer differs from it. */
import { isRecord } from '../../../src/support/text/json-text.ts'

/** A rule for one value, with the words that a report has for it. */
class Rule {
  readonly words: string
  readonly holds: (seen: unknown) => boolean
  constructor(words: string, holds: (seen: unknown) => boolean) {
    this.words = words
    this.holds = holds
  }
}

/** Nothing: the member is not there. */
export const absent = new Rule('nothing', (seen) => seen === undefined)
/** Anything but nothing. */
export const present = new Rule('anything', (seen) => seen !== undefined)
export const text = (pattern: RegExp) =>
  new Rule(`a text like ${pattern}`, (seen) => typeof seen === 'string' && pattern.test(seen))
export const oneOf = (...values: readonly unknown[]) =>
  new Rule(`one of ${JSON.stringify(values)}`, (seen) => values.includes(seen))
/** A number, or the text of one, in a range with both its ends. */
export const between = (low: number, high: number) =>
  new Rule(`a number from ${low} to ${high}`, (seen) => seen !== '' && Number(seen) >= low && Number(seen) <= high)
export const guid = text(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i)

/** Values are equal; of an object the named members count; a list has as many entries. */
export type Pattern =
  | Rule
  | string
  | number
  | boolean
  | null
  | readonly Pattern[]
  | { readonly [name: string]: Pattern | undefined }

export interface Difference {
  /** Where: `status`, `body.error.code`. */
  readonly path: string
  readonly expected: string
  readonly seen: string
}

/** Longest text of a value in a report. */
const maxShown = 300

/** Where a value differs from its pattern. */
export function differences(expected: Pattern, seen: unknown, path = ''): readonly Difference[] {
  if (expected instanceof Rule)
    return expected.holds(seen) ? [] : [{ path, expected: expected.words, seen: show(seen) }]
  const at = (name: string | number) => (path === '' ? String(name) : `${path}.${name}`)
  if (Array.isArray(expected)) {
    if (!Array.isArray(seen) || seen.length !== expected.length)
      return [{ path, expected: `${expected.length} entries: ${show(expected)}`, seen: show(seen) }]
    return expected.flatMap((one, index) => differences(one, seen[index], at(index)))
  }
  if (isRecord(expected)) {
    if (!isRecord(seen)) return [{ path, expected: show(expected), seen: show(seen) }]
    return Object.entries(expected).flatMap(([name, one]) =>
      one === undefined ? [] : differences(one, Object.hasOwn(seen, name) ? seen[name] : undefined, at(name)),
    )
  }
  return Object.is(expected, seen) ? [] : [{ path, expected: show(expected), seen: show(seen) }]
}

function show(value: unknown): string {
  const shown = JSON.stringify(value, (_name, one) => (one instanceof Rule ? `<${one.words}>` : one)) ?? 'nothing'
  return shown.length > maxShown ? `${shown.slice(0, maxShown)} …` : shown
}
