/** Whether two sides' metadata are the same, by value: their secrets too. */
import { isDeepStrictEqual } from 'node:util'
import { Secret } from '../../core/secret.ts'

/** Compares typed metadata, or parts of them. */
export const isSameMetadata = (one: unknown, other: unknown): boolean =>
  isDeepStrictEqual(revealed(one), revealed(other))

/** A `Secret` keeps its text where a comparison does not look. */
function revealed(value: unknown): unknown {
  if (value instanceof Secret) return { secret: value.reveal() }
  if (Array.isArray(value)) return value.map(revealed)
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, revealed(member)]))
}
