/** Names of the metadata fields whose values differ, for the log. The values may be secrets, and stay unsaid. */
import { Secret } from '../core/secret.ts'
import type { MetadataProperties } from '../metadata/typed/read-properties.ts'
import { isRecord } from '../support/text/is-record.ts'
import { oneLine } from '../support/text/text.ts'

/** Longest list of names, in characters. */
const maxNamed = 300

/** `nothing` where no field differs. */
export function changedFields(before: MetadataProperties, after: MetadataProperties): string {
  const [old, current] = [textsOf(before), textsOf(after)]
  const names = [...new Set([...old.keys(), ...current.keys()])].filter((name) => old.get(name) !== current.get(name))
  return names.length > 0 ? oneLine(names.sort().join(', '), maxNamed) : 'nothing'
}

function textsOf(properties: MetadataProperties): ReadonlyMap<string, string> {
  const entries = Array.isArray(properties)
    ? properties.filter(isRecord).map(({ name, value }) => [String(name), value] as const)
    : Object.entries(properties)
  return new Map(
    entries.map(([name, value]) => [name, JSON.stringify(value instanceof Secret ? value.reveal() : value) ?? '']),
  )
}
