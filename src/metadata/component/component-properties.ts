/** The values of `spec.metadata`, references resolved, and which of them become a `Secret`. */
import type { MetadataIssue } from '../../core/errors.ts'
import type { FilePlace } from '../../core/file-place.ts'
import { Secret } from '../../core/secret.ts'
import { BrokenRule } from '../fields/broken-rule.ts'
import { findField } from '../fields/find-field.ts'
import { isPrintable } from '../fields/redact.ts'
import { UnknownValue } from '../typed/read-properties.ts'
import { isOurType } from './component-definition.ts'
import type { ComponentDraft, ComponentEntry } from './component-file.ts'
import type { SecretReference } from './secret-reference.ts'

type PropertyValue = string | number | boolean | Secret

/**
 * Values by name. What may be printed is plain text. All else (secret fields, what a `secretKeyRef` gave, a URL with a
 * query, unknown names) is a `Secret`, whose `reveal()` gives the text. A number or boolean stays
 * one, and is a fault to `init`.
 */
export type ComponentProperties = Readonly<Record<string, PropertyValue>>

export type Environment = Readonly<Record<string, string | undefined>>

export interface ReferenceSources {
  readonly env: Environment
  /** The text of a secret; `undefined` where secrets can't be read, which is reported elsewhere. @throws BrokenRule where there is none */
  readonly secretOf: (reference: SecretReference) => string | undefined
  /** Fills in placeholders of a text, or throws BrokenRule. */
  readonly fill: (text: string) => string
}

/**
 * The entries of a draft with their values, an {@link UnknownValue} for each that has a fault: enough to judge the others by.
 * `properties` are those that have no fault, by name.
 */
export function resolveEntries(draft: ComponentDraft, sources: ReferenceSources) {
  const isOurs = draft.type !== undefined && isOurType(draft.type)
  const issues: MetadataIssue[] = []
  const byName = new Map<string, { name: string; value: PropertyValue | UnknownValue; at: FilePlace }>()
  for (const entry of draft.entries) {
    const { name } = entry
    let value: PropertyValue | UnknownValue = new UnknownValue()
    try {
      value = resolve(entry, isOurs, sources)
    } catch (error) {
      if (!(error instanceof BrokenRule)) throw error
      const { rule, fix, kind } = error
      const field = name.slice(0, 256)
      issues.push({ field, rule, ...(fix !== undefined && { fix }), ...(kind && { kind }), at: entry.at })
    }
    byName.set(name, { name, value, at: isOurs && !findField(name) ? entry.nameAt : entry.at })
  }
  const entries = [...byName.values()]
  const known = entries.flatMap(({ name, value }) => (value instanceof UnknownValue ? [] : [[name, value] as const]))
  return { properties: Object.fromEntries(known), entries, issues }
}

function resolve({ name, source }: ComponentEntry, isOurs: boolean, { env, secretOf, fill }: ReferenceSources) {
  const printable = (text: string) => (isPrintable(name, text) ? text : new Secret(text))
  switch (source.kind) {
    case 'faulty':
      return new UnknownValue()
    case 'secretKeyRef': {
      const text = secretOf(source.reference)
      return text === undefined ? new UnknownValue() : new Secret(fill(text))
    }
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

/** The text of `envRef`. @throws BrokenRule where the environment has no such variable */
export function resolveEnvRef(name: string, env: Environment): string {
  const text = Object.hasOwn(env, name) ? env[name] : undefined
  if (text !== undefined) return text
  const rule = `is an envRef to ${JSON.stringify(name.slice(0, 200))}, which is not set in the environment`
  throw new BrokenRule(rule, 'set the variable, or correct the reference', 'unresolvedReference')
}
