// Safe reading of JSON fields (own properties), and of dotted paths such as `data.key1`.
import { isRecord, type UnknownRecord } from '../../../support/text/is-record.ts'

/**
 * A parsed JSON object. The sender chooses its keys, `__proto__` included: read own properties only.
 */
export type JsonObject = UnknownRecord

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
