/** The values of `spec.metadata`: references resolved, placeholders filled in, and which of them become a `Secret`. */
import { randomUUID } from 'node:crypto'
import type { ComponentProperties, FilePlace } from '../../core/component.ts'
import type { MetadataIssue } from '../../core/errors.ts'
import { Secret } from '../../core/secret.ts'
import { quote } from '../../support/text/text.ts'
import { BrokenRule, brokenRule } from '../fields/faults.ts'
import { findField, isPrintable } from '../fields/find-field.ts'
import { UnknownValue } from '../typed/read-properties.ts'
import { componentTypes, isTypeOf } from './component-definition.ts'
import type { ComponentDraft, ComponentEntry, SecretReference } from './component-file.ts'

export type Environment = Readonly<Record<string, string | undefined>>

export interface ReferenceSources {
  readonly env: Environment
  /** The text of a secret; `undefined` where its store can't be read, a fault of the store. @throws BrokenRule for no such secret */
  readonly secretOf: (reference: SecretReference) => string | undefined
  /** Fills in placeholders of a text, or throws BrokenRule. */
  readonly fill: (text: string) => string
}

/**
 * The entries of a draft with their values, an {@link UnknownValue} for each that has a fault: enough to judge the others by.
 * `properties`: the properties without a fault, by name.
 */
export function resolveEntries(draft: ComponentDraft, sources: ReferenceSources) {
  const isOurs = draft.type !== undefined && isTypeOf(componentTypes, draft.type)
  const issues: MetadataIssue[] = []
  const byName = new Map<string, { name: string; value: ComponentProperties[string] | UnknownValue; at: FilePlace }>()
  for (const entry of draft.entries) {
    const { name } = entry
    let value: ComponentProperties[string] | UnknownValue = new UnknownValue()
    try {
      value = resolve(entry, isOurs, sources)
    } catch (error) {
      issues.push({ field: name.slice(0, 256), ...brokenRule(error), at: entry.at })
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
      // A number would be printed, and its text might differ from what was written: 0123, 1e5.
      if (isOurs && findField(name)?.secret) throw new BrokenRule('must be a string', 'put it in quotes')
      return value
    }
  }
}

/** Dapr's own settings, which Dapr hides from components. */
export const isOfDapr = (name: string) => /^(DAPR_|APP_API_TOKEN$)/i.test(name)

/** The text of `envRef`. @throws BrokenRule where the environment has no such variable, or where the variable is Dapr's own */
export function resolveEnvRef(name: string, env: Environment): string {
  const isHidden = isOfDapr(name)
  const text = Object.hasOwn(env, name) && !isHidden ? env[name] : undefined
  if (text !== undefined) return text
  const why = isHidden ? 'is a setting of Dapr, hidden from components' : 'is not set in the environment'
  const rule = `is an envRef to ${quote(name)}, which ${why}`
  throw new BrokenRule(rule, 'set the variable, or correct the reference', 'unresolvedReference')
}

export interface PlaceholderOptions {
  /** Absent or empty: the value is not known. */
  readonly appId?: string | undefined
  /** @default NAMESPACE of the environment, else `default` */
  readonly namespace?: string | undefined
  readonly env: Environment
  /** What gives the application's id, for the error. */
  readonly needsAppId: string
}

let uuid: string | undefined

/**
 * Makes a function that fills in the placeholders of a value as daprd does (Component spec, "Templated metadata
 * values"): `{uuid}`, `{podName}` from POD_NAME, `{appID}`, and `{namespace}`, which is the namespace and
 * the application's id. `{uuid}` is the same for the whole process, so that reading a file again changes nothing. The
 * function throws BrokenRule for a placeholder without a value.
 */
export function createPlaceholders({ appId, namespace, env, needsAppId }: PlaceholderOptions) {
  const known = (name: string, value: string | undefined, fix: string) => {
    if (value) return value
    throw new BrokenRule(`refers to ${name}, which has no value`, fix)
  }
  const values: Readonly<Record<string, () => string>> = {
    '{uuid}': () => (uuid ??= randomUUID()),
    '{podName}': () => known('{podName}', env.POD_NAME, 'set POD_NAME in the environment'),
    '{namespace}': () => `${namespace || env.NAMESPACE || 'default'}.${known('{namespace}', appId, needsAppId)}`,
    '{appID}': () => known('{appID}', appId, needsAppId),
  }
  return (text: string): string =>
    text.replace(/\{(uuid|podName|namespace|appID)\}/g, (name) => values[name]?.() ?? name)
}
