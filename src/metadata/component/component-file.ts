/** Reads the YAML of a file into drafts of components, within bounds, and says what it leaves out. */

import { type FilePlace, wholeFile } from '../../core/component.ts'
import type { MetadataIssue } from '../../core/errors.ts'
import {
  type LocatedDocument,
  readLocatedYaml,
  type YamlPath,
  type YamlPlace,
} from '../../support/files/located-yaml.ts'
import { drawExcerpt, type ExcerptOptions } from '../../support/files/source-excerpt.ts'
import { isRecord, type UnknownRecord } from '../../support/text/json-text.ts'
import { nearestName } from '../../support/text/nearest-name.ts'
import { quote } from '../../support/text/text.ts'
import { maxEntries } from '../typed/read-properties.ts'
import { type Fault, readEnvelope } from './component-definition.ts'

/** A `secretKeyRef` of a component. */
export interface SecretReference {
  /** The secret store that the component names (`auth.secretStore`); `undefined` where no store is named. */
  readonly store: string | undefined
  readonly name: string
  /** The name, where none is written. */
  readonly key: string
}

export type EntrySource =
  | { readonly kind: 'value'; readonly value: string | number | boolean }
  | { readonly kind: 'secretKeyRef'; readonly reference: SecretReference }
  | { readonly kind: 'envRef'; readonly variable: string }
  /** The entry has a fault, which is reported: its value is not known. */
  | { readonly kind: 'faulty' }

/** One entry of `spec.metadata`, its reference not resolved yet. */
export interface ComponentEntry {
  readonly name: string
  readonly source: EntrySource
  /** The place of its value. */
  readonly at: FilePlace
  readonly nameAt: FilePlace
}

/** A component of a file, its references not resolved yet. */
export type ComponentDraft = Readonly<ReturnType<typeof readDraft>>

/** A YAML text of components, read once. */
export type ComponentFile = ReturnType<typeof readComponentFile>

/** The files of a folder, or why they can't be read. */
export type ComponentFiles = ReadonlyMap<string, ComponentFile | Error>

const limits = { maxLength: 262_144, maxDocuments: 1_000 }

/** Reads a YAML text of components. An invalid text throws no error: all faults are in `issues`, and in the issues of each draft. */
export function readComponentFile(text: string, file: string) {
  const { documents, fault } = readLocatedYaml(text, limits)
  const show = (place: YamlPlace): FilePlace => ({ file, ...place })
  const drafts: ComponentDraft[] = []
  const issues: MetadataIssue[] = fault ? [{ rule: fault.rule, at: show(fault.place) }] : []
  const mistakes: MetadataIssue[] = []
  const leftOut: MetadataIssue[] = []
  const found = documents.filter(({ value }) => value !== null && value !== undefined)
  // A writer may be stopped while the file is still empty: an empty file removes no component.
  if (found.length === 0 && !fault) {
    mistakes.push({ rule: 'holds no component: it is empty, or has comments only', at: wholeFile(file) })
  }
  for (const document of found) {
    const { value } = document
    const at = (path: YamlPath) => show(document.placeOf(path))
    if (!isRecord(value)) {
      issues.push({ rule: 'must be a mapping with apiVersion, kind, metadata and spec', at: at([]) })
    } else if (typeof value.kind !== 'string') {
      issues.push({ field: 'kind', rule: 'must be a string', fix: 'write kind: Component', at: at(['kind']) })
    } else if (value.kind.trim().toLowerCase() !== 'component') {
      const isMeant = nearestName(value.kind, ['Component']) !== undefined || isCutOff(value.kind, 'Component')
      const rule = `kind ${quote(value.kind)} is ${isMeant ? 'unknown; did you mean Component?' : 'left out'}`
      const list = isMeant ? mistakes : leftOut
      list.push({ rule, at: at(['kind']) })
    } else drafts.push(readDraft(value, document, show))
  }
  return {
    drafts,
    /** Faults outside of components; those of a component are in its draft. */
    issues,
    /** Each document whose kind is nearly `Component`, and a file without any document. */
    mistakes,
    /** Each document of another kind. */
    leftOut,
    /** The line of a place in this file with a caret under it. A function: the text may hold secrets, so no object of ours holds it. */
    excerpt: (at: YamlPlace, options: Omit<ExcerptOptions, 'documents'>) =>
      drawExcerpt(text, at, { documents, ...options }),
  }
}

/** Is this the beginning of a word: does the file end within the word? */
export const isCutOff = (text: string, word: string): boolean =>
  word.toLowerCase().startsWith(text.trim().toLowerCase())

/** Without an application's id every component counts. */
export const isForApp = ({ scopes }: Pick<ComponentDraft, 'scopes'>, appId: string | undefined): boolean =>
  appId === undefined || scopes.length === 0 || scopes.includes(appId)

function readDraft(value: UnknownRecord, document: LocatedDocument, show: (place: YamlPlace) => FilePlace) {
  const at = (path: YamlPath) => show(document.placeOf(path))
  const oddities = [...document.unknownTags, ...document.duplicateKeys]
  const issues: MetadataIssue[] = oddities.map(({ rule, place }) => ({ rule, at: show(place) }))
  const fault: Fault = (path, issue, field = path.join('.')) => void issues.push({ field, ...issue, at: at(path) })
  const { name, type, version, ignoreErrors, entries, ...given } = readEnvelope(value, fault)
  const scopes = readScopes(given.scopes, fault)
  const secretStore = readSecretStore(given.auth, fault)
  return {
    name,
    type,
    version,
    ignoreErrors,
    /** The applications that the component is for. Empty: every application. */
    scopes,
    secretStore,
    entries: readEntries(entries, secretStore, at, fault),
    issues,
    /** Places in the file; `metadata` is the place of the key in `spec`. */
    places: {
      name: at(['metadata', 'name']),
      type: at(['spec', 'type']),
      version: at(['spec', 'version']),
      metadata: show(document.placeOfKey(['spec'], 'metadata')),
    },
  }
}

/** A component for one application must not become one for all because of a typo. */
function readScopes(scopes: unknown, fault: Fault): readonly string[] {
  if (scopes === undefined || scopes === null) return []
  if (Array.isArray(scopes) && scopes.every((scope) => typeof scope === 'string')) return scopes
  fault(['scopes'], { rule: 'must be a list of application ids', fix: 'write scopes: [my-app]' })
  return []
}

function readSecretStore(auth: unknown, fault: Fault): string | undefined {
  const store = isRecord(auth) ? (auth.secretStore ?? undefined) : undefined
  if (typeof store === 'string') return store === '' ? undefined : store
  if (store !== undefined || !(isRecord(auth) || auth === undefined || auth === null))
    fault(['auth'], { rule: 'must name a store as text', fix: 'write auth: { secretStore: my-store }' })
  return undefined
}

/** A key of letters alone. Any other may hold a value. */
export const isWord = (key: string) => /^[a-z]{1,40}$/i.test(key)

const sourceKeys = ['value', 'secretKeyRef', 'envRef'] as const

function readEntries(
  list: readonly unknown[],
  store: string | undefined,
  at: (path: YamlPath) => FilePlace,
  fault: Fault,
): readonly ComponentEntry[] {
  const names = new Set<string>()
  // One more than there may be, so that the rule about the number is told. Each place takes time, and a file may have 25,000 entries.
  return list.slice(0, maxEntries + 1).flatMap((entry: unknown, index) => {
    const here = ['spec', 'metadata', index]
    if (!isRecord(entry) || typeof entry.name !== 'string' || entry.name === '') {
      fault(here, { rule: 'must be an entry with a name and a value' }, `spec.metadata[${index}]`)
      return []
    }
    const { name } = entry
    const field = name.slice(0, 256)
    const valuePath = [...here, sourceKeys.find((key) => Object.hasOwn(entry, key)) ?? 'name']
    const namePath = [...here, 'name']
    if (names.has(name)) fault(namePath, { rule: 'is given twice', fix: 'keep one of them' }, field)
    names.add(name)
    const source = readSource(entry, store)
    const isFaulty = 'rule' in source
    if (isFaulty) fault(valuePath, source, field)
    return [{ name, at: at(valuePath), nameAt: at(namePath), source: isFaulty ? { kind: 'faulty' } : source }]
  })
}

function readSource(entry: UnknownRecord, store?: string): EntrySource | Pick<MetadataIssue, 'rule' | 'fix'> {
  const given = sourceKeys.filter((key) => Object.hasOwn(entry, key))
  const odd = Object.keys(entry).find((key) => key !== 'name' && !sourceKeys.some((known) => known === key))
  if (odd !== undefined) {
    const fix = `an entry has name and one of ${sourceKeys.join(', ')}`
    // Without a space after its colon `value:KEY` is one key, with the secret in it.
    const rule = isWord(odd)
      ? `has the unknown key ${quote(odd)}`
      : 'has a key with other characters than letters: write a space after each colon'
    return { rule, fix }
  }
  if (given.length > 1) return { rule: `has ${given.join(' and ')}`, fix: 'keep one of them' }
  const { value = '', secretKeyRef, envRef } = entry
  if (given[0] === 'secretKeyRef') {
    const { name, key } = isRecord(secretKeyRef) ? secretKeyRef : {}
    // As for daprd an empty key is the name.
    if (typeof name === 'string' && name !== '' && (typeof key === 'string' || key === undefined || key === null))
      return { kind: 'secretKeyRef', reference: { store, name, key: key || name } }
    const fix = 'write secretKeyRef: { name: NAME, key: KEY }'
    return { rule: 'must have a secretKeyRef with a name and a key', fix }
  }
  if (given[0] === 'envRef') {
    if (typeof envRef === 'string' && envRef !== '') return { kind: 'envRef', variable: envRef }
    return { rule: 'must have an envRef that names a variable', fix: 'write envRef: NAME' }
  }
  if (value === null) return { kind: 'value', value: '' }
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
    return { kind: 'value', value }
  return { rule: 'must be a string, not a list or a mapping' }
}
