// Safe reading of JSON: nesting limit of 2,000, own properties, dotted paths such as `data.key1`.

import { messageOf } from '../../../../../src/support/process/error-code.ts'
import { isRecord, nestsDeeper, type UnknownRecord } from '../../../../../src/support/text/json-text.ts'

/**
 * A parsed JSON object. The sender chooses its keys, `__proto__` included: read own properties only.
 */
export type JsonObject = UnknownRecord

/** JSON can be written again up to a depth of some 4,000 levels. An event that can't be written could not be delivered. */
const maxDepth = 2_000

/** Whether a body holds JSON that could not be written again. */
export const nestsTooDeeply = (body: Buffer): boolean => nestsDeeper(body, maxDepth)

/** What is said of such a body. */
export const tooDeep = `nests deeper than ${maxDepth.toLocaleString('en-US')} levels`

/** The JSON text of a value that was not sent as text. Throws a TypeError for one that has none, or that nests too deeply. */
export function jsonTextOf(value: unknown, name: string): string {
  let text: string
  try {
    text = JSON.stringify(value)
  } catch (error) {
    // Of a value that nests very deeply Node says that its stack is too small.
    throw new TypeError(error instanceof RangeError ? `${name} ${tooDeep}` : `${name} is no JSON: ${messageOf(error)}`)
  }
  if (nestsTooDeeply(Buffer.from(text ?? ''))) throw new TypeError(`${name} ${tooDeep}`)
  return text
}

/** An own property of a JSON value; undefined if it has no such property. */
export function ownField(value: unknown, name: string): unknown {
  return isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined
}

/**
 * Walks dots inward: `['data', 'key1']`. A name that holds a dot itself can't be reached (Event Grid: event-filtering).
 */
export function fieldAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce(ownField, value)
}

/**
 * The way to what a filter's key names, as the event spells it. Letter case does not count; of two names that differ in case only, the
 * one that is spelled as in the key goes first.
 */
export function spelledPath(value: unknown, path: readonly string[]): readonly string[] {
  const spelled: string[] = []
  let holder = value
  for (const part of path) {
    const names = isRecord(holder) ? Object.keys(holder) : []
    const like = names.includes(part) ? part : names.find((name) => name.toLowerCase() === part.toLowerCase())
    spelled.push(like ?? part)
    holder = ownField(holder, like ?? part)
  }
  return spelled
}
