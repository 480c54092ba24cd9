import { Secret } from '../core/secret.ts'
import type { LoadedComponent } from '../metadata/load-components.ts'

type Component = LoadedComponent['component']

/** The names of the fields whose values differ, sorted. Their values may be secrets, and stay unsaid. */
export function changedFields(before: Component, after: Component): readonly string[] {
  const names = new Set([...Object.keys(before.properties), ...Object.keys(after.properties)])
  return [...names].filter((name) => plain(before.properties[name]) !== plain(after.properties[name])).sort()
}

const plain = (value: unknown) => JSON.stringify(value instanceof Secret ? value.reveal() : value)
