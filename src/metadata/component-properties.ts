import type { MetadataIssue } from '../core/errors.ts'
import { Secret } from '../core/secret.ts'
import { BrokenRule } from './broken-rule.ts'
import { isOurType } from './component-definition.ts'
import type { ComponentDraft, ComponentEntry } from './component-file.ts'
import { findField } from './fields.ts'
import { UnknownValue } from './read-properties.ts'
import { isPrintable } from './redact.ts'
import { resolveEnvRef, resolveSecretKeyRef, type SecretAdvice, type Secrets } from './resolve-reference.ts'

/** A value as a component holds it: see {@link ComponentProperties}. */
type PropertyValue = string | number | boolean | Secret

/**
 * Values by name. What may be printed is plain text. All else (secret fields, what a `secretKeyRef` gave, a URL with a
 * query, unknown names) is a `Secret`, whose `reveal()` gives the text. A number or boolean stays
 * one, and is a fault to `init`.
 */
export type ComponentProperties = Readonly<Record<string, PropertyValue>>

export interface ReferenceSources {
  readonly env: Readonly<Record<string, string | undefined>>
  /** `undefined`: they could not be read, which is reported elsewhere; references to them stay unknown. */
  readonly secrets: Secrets | undefined
  readonly advice?: SecretAdvice | undefined
  /** Fills in placeholders of a text, or throws BrokenRule. @default leaves it unchanged */
  readonly fill?: ((text: string) => string) | undefined
}

export function resolveEntries(draft: ComponentDraft, sources: ReferenceSources) {
  const isOurs = draft.type !== undefined && isOurType(draft.type)
  const issues: MetadataIssue[] = []
  const values = new Map<string, { readonly value: PropertyValue | UnknownValue; readonly at: string }>()
  for (const entry of draft.entries) {
    const { name } = entry
    const at = isOurs && !findField(name) ? entry.nameAt : entry.at
    try {
      values.set(name, { at, value: resolve(entry, isOurs, sources) ?? new UnknownValue() })
    } catch (error) {
      if (!(error instanceof BrokenRule)) throw error
      const { rule, fix } = error
      issues.push({ field: name.slice(0, 256), rule, ...(fix !== undefined && { fix }), at: entry.at })
      values.set(name, { at, value: new UnknownValue() })
    }
  }
  const known = [...values].flatMap(([name, { value }]) =>
    value instanceof UnknownValue ? [] : [[name, value] as const],
  )
  return {
    /** Those that have no fault, by name. */
    properties: Object.fromEntries(known),
    /** All of them, an {@link UnknownValue} for each that has a fault: enough to judge the others by. */
    entries: [...values].map(([name, { value, at }]) => ({ name, value, at })),
    issues,
  }
}

function resolve({ name, source }: ComponentEntry, isOurs: boolean, sources: ReferenceSources) {
  const { fill = (text) => text, env, secrets, advice } = sources
  const printable = (text: string) => (isPrintable(name, text) ? text : new Secret(text))
  switch (source.kind) {
    case 'faulty':
      return undefined
    case 'secretKeyRef':
      return secrets && new Secret(fill(resolveSecretKeyRef(source, secrets, advice)))
    case 'envRef':
      return printable(fill(resolveEnvRef(source.variable, env)))
    case 'value': {
      const { value } = source
      if (typeof value === 'string') return value === '' ? '' : printable(fill(value))
      // As a number it would be printed, and as text it might differ from what was written: 0123, 1e5.
      if (isOurs && findField(name)?.secret) throw new BrokenRule('must be a string', 'put it in quotes')
      return value
    }
  }
}
