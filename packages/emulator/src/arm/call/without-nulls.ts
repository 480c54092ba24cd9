// What counts as left out of ARM bodies: null members, an empty `expirationTimeUtc`; nesting depth of at most 64.
import { isRecord } from '../../../../../src/support/text/json-text.ts'
import { armErrors } from './errors.ts'

const maxDepth = 64

/** Null means that a field is left out: a body without the members that are null, at any depth. Throws an ArmError. */
export function withoutNulls(value: unknown, depth = 0): unknown {
  if (depth > maxDepth) throw armErrors.invalidContent(`The reader's MaxDepth of ${maxDepth} has been exceeded`)
  if (Array.isArray(value)) return value.map((item) => withoutNulls(item, depth + 1))
  if (!isRecord(value)) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, member]) => member !== null)
      .map(([name, member]) => [name, withoutNulls(member, depth + 1)]),
  )
}

/** The settings of an event subscription without an expiration time that is empty: Terraform sends that for none. */
export function withoutEmptyExpiry(settings: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { expirationTimeUtc, ...others } = settings
  return expirationTimeUtc === '' ? others : settings
}
