// Safe reading of JSON: nesting limit of 2,000, own properties, dotted paths such as `data.key1`.
import { isRecord, type UnknownRecord } from '../../../support/text/is-record.ts'
import { nestsDeeper } from '../../../support/text/json-text.ts'

/**
 * A parsed JSON object. The sender chooses its keys, `__proto__` included: read own properties only.
 */
export type JsonObject = UnknownRecord

/** JSON can be written again up to a depth of some 4,000 levels. An event that can't be written could not be delivered. */
const maxDepth = 2_000

/** Whether a body holds JSON that could not be written again. */
export const nestsTooDeeply = (body: Buffer): boolean => nestsDeeper(body, maxDepth)

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
