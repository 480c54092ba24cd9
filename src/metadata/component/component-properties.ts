// Values of `spec.metadata`, `secretKeyRef` and `envRef` resolved; which become `Secret`; message for a missing
// secret.
import type { MetadataIssue } from '../../core/errors.ts'
import type { FilePlace } from '../../core/file-place.ts'
import { Secret } from '../../core/secret.ts'
import { isRecord } from '../../support/text/is-record.ts'
import { nearestName } from '../../support/text/nearest-name.ts'
import { BrokenRule } from '../fields/broken-rule.ts'
import { findField } from '../fields/find-field.ts'
import { isPrintable } from '../fields/redact.ts'
import { UnknownValue } from '../typed/read-properties.ts'
import { isOurType } from './component-definition.ts'
import type { ComponentDraft, ComponentEntry } from './component-file.ts'

type PropertyValue = string | number | boolean | Secret

/**
 * Values by name. What may be printed is plain text. All else (secret fields, what a `secretKeyRef` gave, a URL with a
 * query, unknown names) is a `Secret`, whose `reveal()` gives the text. A number or boolean stays
 * one, and is a fault to `init`.
 */
export type ComponentProperties = Readonly<Record<string, PropertyValue>>

/**
 * Secrets to resolve `secretKeyRef` from, as Dapr's local file store has them: texts by name, or
 * objects of texts, which a colon in the name or key goes down into (`redis:password`). Takes what
 * `JSON.parse` gives; only texts resolve.
 */
export type Secrets = Readonly<Record<string, unknown>>

export interface ReferenceSources {
  readonly env: Readonly<Record<string, string | undefined>>
  /** `undefined`: they could not be read, which is reported elsewhere; references to them stay unknown. */
  readonly secrets: Secrets | undefined
  /** Says where a missing secret belongs; `shape` is the JSON that holds it. @default the option of parseComponents */
  readonly advice?: ((shape: string) => string) | undefined
  /** Fills in placeholders of a text, or throws BrokenRule. @default leaves it unchanged */
  readonly fill?: ((text: string) => string) | undefined
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
      const { rule, fix } = error
      issues.push({ field: name.slice(0, 256), rule, ...(fix !== undefined && { fix }), at: entry.at })
    }
    byName.set(name, { name, value, at: isOurs && !findField(name) ? entry.nameAt : entry.at })
  }
  const entries = [...byName.values()]
  const known = entries.flatMap(({ name, value }) => (value instanceof UnknownValue ? [] : [[name, value] as const]))
  return { properties: Object.fromEntries(known), entries, issues }
}

function resolve({ name, source }: ComponentEntry, isOurs: boolean, sources: ReferenceSources) {
  const { fill = (text) => text, env, secrets, advice } = sources
  const printable = (text: string) => (isPrintable(name, text) ? text : new Secret(text))
  switch (source.kind) {
    case 'faulty':
      return new UnknownValue()
    case 'secretKeyRef':
      return secrets ? new Secret(fill(resolveSecretKeyRef(source, secrets, advice))) : new UnknownValue()
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

const maxNames = 1_000

const adviceToCallers = (shape: string) => `give parseComponents the option secrets, such as ${shape}`

/**
 * The text of `secretKeyRef: { name, key }`. `key` may be left out: it is the name then.
 *
 * @throws BrokenRule where there is no such secret
 */
export function resolveSecretKeyRef(
  { name, key = name }: { name: string; key?: string | undefined },
  secrets: Secrets,
  advice = adviceToCallers,
): string {
  const found = descend(secrets, name)
  const text = key === name && isText(found) ? found : typeof found === 'object' ? descend(found, key) : undefined
  if (isText(text)) return text instanceof Secret ? text.reveal() : text
  const typo = key === name ? nearestIn(secrets, name) : (nearestIn(secrets, name) ?? nearestIn(found, key))
  const which = key === name ? name : `${name} with key ${key}`
  const rule = `is a secretKeyRef to ${JSON.stringify(which.slice(0, 200))}, which the secrets do not hold as text`
  const [outer, inner] = [name, key].map((part) => JSON.stringify(part.slice(0, 100)))
  const shape = key === name ? `{ ${outer}: "…" }` : `{ ${outer}: { ${inner}: "…" } }`
  const meant = typo === undefined ? '' : `did you mean ${JSON.stringify(typo)}? If not: `
  throw new BrokenRule(rule, `${meant}${advice(shape)}; or correct the reference`)
}

/** A name like the one that is missing. Names of secrets are no secrets. */
function nearestIn(holder: unknown, name: string): string | undefined {
  return isHolder(holder) && !Object.hasOwn(holder, name)
    ? nearestName(name, Object.keys(holder).slice(0, maxNames))
    : undefined
}

/**
 * The text of `envRef`.
 *
 * @throws BrokenRule where the environment has no such variable
 */
export function resolveEnvRef(name: string, env: Readonly<Record<string, string | undefined>>): string {
  const text = Object.hasOwn(env, name) ? env[name] : undefined
  if (text !== undefined) return text
  const rule = `is an envRef to ${JSON.stringify(name.slice(0, 200))}, which is not set in the environment`
  throw new BrokenRule(rule, 'set the variable, or correct the reference')
}

const isText = (value: unknown): value is string | Secret => typeof value === 'string' || value instanceof Secret

/** The value under a name, or under the parts of the name between colons. */
function descend(secrets: unknown, name: string): unknown {
  const step = (holder: unknown, part: string): unknown =>
    isHolder(holder) && Object.hasOwn(holder, part) ? holder[part] : undefined
  return step(secrets, name) ?? name.split(':').reduce(step, secrets)
}

const isHolder = (value: unknown): value is Secrets => isRecord(value) && !(value instanceof Secret)
