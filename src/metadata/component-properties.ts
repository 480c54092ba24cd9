import type { MetadataIssue } from '../core/errors.ts'
import { Secret } from '../core/secret.ts'
import { isRecord, type UnknownRecord } from '../support/is-record.ts'
import { quote } from '../support/text.ts'
import { BrokenRule } from './broken-rule.ts'
import { isOurType } from './component-definition.ts'
import { findField } from './fields.ts'
import { notePositions } from './positions.ts'
import { isPrintable } from './redact.ts'
import { resolveEnvRef, resolveSecretKeyRef, type SecretAdvice, type Secrets } from './resolve-reference.ts'
import { UnknownValue } from './unknown-value.ts'

/** A value as a component holds it: see {@link ComponentProperties}. */
type PropertyValue = string | number | boolean | Secret

/**
 * Values by name. What may be printed is plain text. All else (secret fields, what a `secretKeyRef` gave, a URL with a
 * query, names that are no field of ours) is a `Secret`, whose `reveal()` gives the text. A number or boolean stays
 * one, and is a fault to `init`.
 */
export type ComponentProperties = Readonly<Record<string, PropertyValue>>

/** The way to a part of a YAML document. */
type Path = readonly (string | number)[]

/** Takes a fault, with the way to what has it. */
export type Fault = (path: Path, issue: MetadataIssue) => void

/** What references refer to. */
export interface ReferenceSources {
  readonly env: Readonly<Record<string, string | undefined>>
  /** `undefined`: they could not be read, which is reported elsewhere; what refers to them stays unknown. */
  readonly secrets: Secrets | undefined
  readonly advice?: SecretAdvice | undefined
  /** Fills in placeholders of a text, or throws BrokenRule. @default leaves it as it is */
  readonly fill?: ((text: string) => string) | undefined
}

/** What is around the entries: the component's type, where faults go, where things stand, what references refer to. */
interface Surroundings {
  readonly type: string | undefined
  readonly fault: Fault
  readonly at: (path: Path) => string
  readonly sources: ReferenceSources
}

/** The entries of `spec.metadata`. */
interface ReadProperties {
  /** What has no fault. */
  readonly sound: ComponentProperties
  /** That, and an {@link UnknownValue} for what has one: enough to judge all else by. */
  readonly known: Readonly<Record<string, PropertyValue | UnknownValue>>
}

/** The entries of `spec.metadata` as a record, references resolved; notes where each value stands. */
export function readComponentProperties(list: unknown, { type, fault, at, sources }: Surroundings): ReadProperties {
  const entries = new Map<string, PropertyValue | UnknownValue>()
  const places = new Map<string, string>()
  const path = ['spec', 'metadata']
  if (list !== undefined && list !== null && !Array.isArray(list)) {
    fault(path, { field: 'spec.metadata', rule: 'must be a list of entries with name and value' })
  }
  for (const [index, entry] of Array.isArray(list) ? list.entries() : []) {
    const here = [...path, index]
    if (!isRecord(entry) || typeof entry.name !== 'string' || entry.name === '') {
      fault(here, { field: `spec.metadata[${index}]`, rule: 'must be an entry with a name and a value' })
      continue
    }
    const { name } = entry
    const valuePath = [...here, sourcesOfValue.find((key) => Object.hasOwn(entry, key)) ?? 'name']
    const report = (rule: string, fix?: string): undefined =>
      void fault(valuePath, { field: shortened(name), rule, ...(fix && { fix }) })
    if (entries.has(name))
      fault([...here, 'name'], { field: shortened(name), rule: 'is given twice', fix: 'keep one of them' })
    const value = readValue(entry, name, { isOurs: type !== undefined && isOurType(type), report, sources })
    entries.set(name, value ?? new UnknownValue())
    places.set(name, at(valuePath))
  }
  const known = Object.fromEntries(entries)
  const sound = Object.fromEntries(
    [...entries].flatMap(([name, value]) => (value instanceof UnknownValue ? [] : [[name, value] as const])),
  )
  notePositions(known, places)
  notePositions(sound, places)
  return { sound, known }
}

const sourcesOfValue = ['value', 'secretKeyRef', 'envRef'] as const

interface ValueContext {
  readonly isOurs: boolean
  readonly report: (rule: string, fix?: string) => undefined
  readonly sources: ReferenceSources
}

function readValue(entry: UnknownRecord, name: string, { isOurs, report, sources }: ValueContext) {
  const given = sourcesOfValue.filter((key) => Object.hasOwn(entry, key))
  const odd = Object.keys(entry).find((key) => key !== 'name' && !sourcesOfValue.some((known) => known === key))
  if (odd !== undefined)
    return report(`has the unknown key ${quote(odd)}`, `an entry has name and one of ${sourcesOfValue.join(', ')}`)
  if (given.length > 1) return report(`has ${given.join(' and ')}`, 'keep one of them')
  const { fill = (text) => text } = sources
  try {
    if (given[0] === 'secretKeyRef') {
      const reference = readSecretKeyRef(entry.secretKeyRef)
      if (sources.secrets === undefined) return undefined
      return new Secret(fill(resolveSecretKeyRef(reference, sources.secrets, sources.advice)))
    }
    if (given[0] === 'envRef') return printable(name, fill(resolveEnvRef(readEnvRef(entry.envRef), sources.env)))
    if (typeof entry.value === 'string') return printable(name, fill(entry.value))
  } catch (error) {
    if (!(error instanceof BrokenRule)) throw error
    return report(error.rule, error.fix)
  }
  const { value } = entry
  if (value === undefined || value === null) return ''
  if (typeof value !== 'number' && typeof value !== 'boolean')
    return report('must be a string, not a list or a mapping')
  // As a number it would print, and as text it might not be what was written: 0123, 1e5.
  if (isOurs && findField(name)?.secret) return report('must be a string', 'put it in quotes')
  return value
}

const printable = (name: string, text: string) => (isPrintable(name, text) ? text : new Secret(text))

function readSecretKeyRef(reference: unknown): { name: string; key: string | undefined } {
  const { name, key } = isRecord(reference) ? reference : {}
  if (typeof name === 'string' && name !== '' && (key === undefined || typeof key === 'string')) return { name, key }
  throw new BrokenRule('must have a secretKeyRef with a name and a key', 'write secretKeyRef: { name: NAME, key: KEY }')
}

function readEnvRef(reference: unknown): string {
  if (typeof reference === 'string' && reference !== '') return reference
  throw new BrokenRule('must have an envRef that names a variable', 'write envRef: NAME')
}

const shortened = (name: string) => name.slice(0, 256)
