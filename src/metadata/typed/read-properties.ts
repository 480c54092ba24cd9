/** Sorts raw properties by field, and parses each value: finds duplicates, unknown names, values other than texts, and broken rules. */

import { type FilePlace, readPlace } from '../../core/component.ts'
import type { MetadataIssue } from '../../core/errors.ts'
import { Secret } from '../../core/secret.ts'
import { isRecord, type UnknownRecord } from '../../support/text/json-text.ts'
import { didYouMean } from '../../support/text/nearest-name.ts'
import { quote } from '../../support/text/text.ts'
import { everyFieldName, findField, showValue, type Values, valuesSchema } from '../fields/find-field.ts'

export const maxEntries = 256
const maxValueLength = 65_536

/** One property, with its place in a file where that is known. */
export interface PropertyEntry {
  readonly name: string
  readonly value?: unknown
  readonly at?: FilePlace | undefined
}

/** The properties of a component: a record, or a list. Values are texts, or secret texts. */
export type MetadataProperties = Readonly<Record<string, unknown>> | readonly unknown[]

export interface GivenField {
  readonly spelled: string
  /** Trimmed, unless the field is secret; `undefined` for a list, an object or what is not known, which is reported already. */
  readonly text: string | undefined
  /** The value is a number, true or false without quotes. This fault is reported only where the value has no other fault. */
  readonly isBare: boolean
  readonly shown: string
  readonly at: FilePlace | undefined
}

export type GivenFields = ReturnType<typeof readProperties>

/**
 * A value that is not known, of a reference that does not resolve for instance. Its field counts as present. The fault itself
 * is reported already.
 */
export class UnknownValue {
  readonly isUnknown = true
}

/** Sorts properties by field. Names and aliases match in any letter case; empty values count as absent; a field given twice is a fault. */
export function readProperties(properties: MetadataProperties) {
  const issues: MetadataIssue[] = []
  const unknown: MetadataIssue[] = []
  const fields = new Map<string, GivenField>()
  const seen = new Set<string>()
  const entries = readEntries(properties, issues)
  for (const entry of entries) {
    const { name, at } = entry
    if (isEmpty(entry.value)) continue
    const field = findField(name)
    if (!field) {
      // The sidecar itself reads `route`.
      if (name.toLowerCase() !== 'route') unknown.push(unknownName(entry))
      continue
    }
    const given = readField(entry, field, issues)
    const earlier = fields.get(field.name)
    if (seen.has(name.toLowerCase())) {
      issues.push({ field: field.name, rule: 'is given twice', fix: 'keep one of them', ...located(at) })
    } else if (earlier?.text !== undefined && given.text !== undefined && earlier.text !== given.text) {
      const rule = `is given as ${earlier.spelled} and ${given.spelled} with different values`
      issues.push({ field: field.name, rule, fix: 'keep one of them', ...located(at) })
    }
    seen.add(name.toLowerCase())
    if (!earlier) fields.set(field.name, given)
  }
  const isIncomplete = entries.some(({ value }) => value instanceof UnknownValue)
  return { fields, unknown, issues, isIncomplete, ...parseValues(fields) }
}

/** The values, and the faults of those that break the rule of their field, by its name: these values count as left out. */
function parseValues(fields: ReadonlyMap<string, GivenField>) {
  const texts = new Map([...fields].map(([name, { text }]) => [name, text]))
  const broken = new Map<string, MetadataIssue>()
  const { data, error } = valuesSchema.safeParse(Object.fromEntries(texts))
  for (const issue of error?.issues ?? []) {
    const field = String(issue.path[0])
    broken.set(field, { field, rule: issue.message, ...(issue.code === 'custom' && issue.params) })
    texts.delete(field)
  }
  const values: Values = data ?? valuesSchema.parse(Object.fromEntries(texts))
  return { values, broken }
}

function readEntries(properties: MetadataProperties, issues: MetadataIssue[]): readonly PropertyEntry[] {
  const isList = Array.isArray(properties)
  const entries = isList
    ? [...properties.slice(0, maxEntries).entries()].flatMap(([index, item]) => readItem(item, index, issues))
    : Object.entries(properties).map(([name, value]): PropertyEntry => ({ name, value }))
  if ((isList ? properties : entries).length > maxEntries) {
    issues.push({ rule: `must hold at most ${maxEntries} entries` })
  }
  return entries.slice(0, maxEntries)
}

function readItem(item: unknown, index: number, issues: MetadataIssue[]): PropertyEntry | readonly [] {
  if (!isRecord(item) || typeof item.name !== 'string' || item.name === '') {
    issues.push({ rule: `entry ${index + 1} of the list must be an object with a name and a value` })
    return []
  }
  // An entry that only refers to a value is left as it is: `faultOf` says so.
  return { name: item.name, value: referenceIn(item) ? item : item.value, at: readPlace(item.at) }
}

const referenceIn = (item: UnknownRecord) => ['secretKeyRef', 'envRef'].find((key) => Object.hasOwn(item, key))

type Field = { readonly name: string; readonly secret: boolean }

function readField({ name: spelled, value, at }: PropertyEntry, field: Field, issues: MetadataIssue[]): GivenField {
  const shown = showValue(field.name, value)
  const raw = value instanceof Secret ? value.reveal() : value
  const isBare = !field.secret && isNumberOrBoolean(raw)
  const fault = isBare ? undefined : faultOf(raw, field)
  if (fault) issues.push({ field: field.name, value: shown, ...fault, ...located(at) })
  const written = isBare ? String(raw) : raw
  const text = typeof written !== 'string' || fault ? undefined : field.secret ? written : written.trim()
  return { spelled, text, isBare, shown, at }
}

const isNumberOrBoolean = (value: unknown) => ['number', 'bigint', 'boolean'].includes(typeof value)

function faultOf(raw: unknown, { secret }: Field): Pick<MetadataIssue, 'rule' | 'fix'> | undefined {
  if (raw instanceof UnknownValue) return undefined
  const reference = isRecord(raw) ? referenceIn(raw) : undefined
  if (reference) {
    return { rule: `is an unresolved ${reference}`, fix: 'parse the YAML with parseComponents, or put the value in' }
  }
  if (typeof raw === 'string') {
    return raw.length > maxValueLength ? { rule: `must be at most ${maxValueLength} characters long` } : undefined
  }
  return { rule: 'must be a string', fix: secret ? 'put it in quotes' : 'write its value as text, a list as one,two' }
}

function unknownName({ name, at }: PropertyEntry): MetadataIssue {
  const fix = didYouMean(name, everyFieldName) ?? 'it is ignored'
  return { field: quote(name), rule: 'is not a field of this component', fix, ...located(at) }
}

const isEmpty = (value: unknown) => {
  const text = value instanceof Secret ? value.reveal() : value
  return text === undefined || text === null || (typeof text === 'string' && text.trim() === '')
}

const located = (at: FilePlace | undefined) => (at === undefined ? {} : { at })
