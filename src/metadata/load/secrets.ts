/** Where the secret of a reference comes from: what the caller gives, then the secret store that the component names. */

import { type FilePlace, placeInWords } from '../../core/component.ts'
import type { MetadataIssue } from '../../core/errors.ts'
import { Secret } from '../../core/secret.ts'
import { isRecord } from '../../support/text/json-text.ts'
import { quote } from '../../support/text/text.ts'
import {
  type ComponentDraft,
  type ComponentFiles,
  isForApp,
  type SecretReference,
} from '../component/component-file.ts'
import type { Environment } from '../component/component-properties.ts'
import { BrokenRule, describeIssue } from '../fields/faults.ts'
import { isStore, readSecretStore, type SecretStore, type Secrets } from './secret-stores.ts'

type NamedSecret = Omit<SecretReference, 'store'>

/** Secrets by the name of their secret store, then as {@link Secrets}. */
export interface SecretsByStore {
  readonly stores: Readonly<Record<string, Secrets>>
}

/** A text that is equal for equal references. */
const keyOfReference = ({ store, name, key }: SecretReference): string => JSON.stringify([store, name, key])

/** What the caller gave, sorted out. */
export interface GivenSecrets {
  readonly kind: 'byName' | 'byStore' | 'function' | 'unreadable'
  /** The text of a secret; `undefined` where the caller has none. */
  readonly ask: (reference: SecretReference) => string | undefined
  /** The secret stores of `byStore`. */
  readonly stores?: readonly string[]
  /** Why they are `unreadable`. */
  readonly issue?: MetadataIssue
}

/** What the caller has to do, in his own words. */
export interface CallerWords {
  /** To give the application's id. */
  readonly appId: string
  /** Where a secret belongs; `shape` is the JSON that holds it. */
  readonly secret: (shape: string) => string
}

export interface SecretOptions {
  /** The application's id: a component whose `scopes` do not name it is left out. @default all count */
  readonly appId?: string | undefined
  readonly env: Environment
  /** Fills in placeholders of a value, or throws BrokenRule. */
  readonly fill: (text: string) => string
  /** The secrets that the caller gives; they go before those of secret stores. */
  readonly given: GivenSecrets
  readonly words: CallerWords
}

/** Finds the secrets for the references of components. Where a store can't be read, its secrets count as unknown. */
export function createSecretSources(files: ComponentFiles, drafts: readonly ComponentDraft[], options: SecretOptions) {
  const { given, words } = options
  const issues: MetadataIssue[] = []
  const notes: string[] = []
  if (given.issue) issues.push(given.issue)
  const local = new Map<string, Secrets | undefined>()
  for (const [name, store] of findStores(files, options, issues)) {
    const faults: MetadataIssue[] = []
    const secrets = readSecretStore(store, options, faults)
    if (store.ignoreErrors) notes.push(...faults.map(describeIssue))
    else issues.push(...faults)
    // A reference to a store that may be missing is a fault of its own.
    local.set(name, secrets ?? (store.ignoreErrors ? {} : undefined))
  }
  const names = [...new Set([...local.keys(), ...(given.stores ?? [])])]
  const references = given.kind === 'byName' ? referencesOf(drafts) : []
  // With two stores a record of secrets by name is ambiguous: it does not say which store a secret is from.
  const contested = storesNamed(references.filter((one) => given.ask(one) !== undefined))
  const isByStore = given.kind === 'byStore' || storesNamed(references).length > 1

  function secretOf(reference: SecretReference): string | undefined {
    const { store } = reference
    if (given.kind === 'unreadable') return undefined
    const own = given.ask(reference)
    if (own !== undefined && store !== undefined && contested.length > 1) throw notByStore(reference, contested)
    if (own !== undefined) return own
    const isLocal = store !== undefined && local.has(store)
    const stored = isLocal ? local.get(store) : {}
    if (!stored) return undefined
    const text = findSecret(stored, reference)
    if (text !== undefined) return text
    if (given.kind === 'function' && !isLocal) throw unanswered(reference)
    const shape = shapeOf(reference)
    const advice = words.secret(isByStore && store !== undefined ? byStoreShape(store, shape) : shape)
    const fix = `${troubleWith(store, names, given)}${advice}; or correct the reference`
    throw unresolved(reference, 'which the secrets do not hold as text', fix)
  }

  return { issues, notes, secretOf }
}

/** The references of components, each once. */
export function referencesOf(drafts: readonly ComponentDraft[]): readonly SecretReference[] {
  const all = drafts.flatMap(({ entries }) =>
    entries.flatMap(({ source }) => (source.kind === 'secretKeyRef' ? source.reference : [])),
  )
  return [...new Map(all.map((one) => [keyOfReference(one), one])).values()]
}

/** The secret stores that references name, each once. */
const storesNamed = (references: readonly SecretReference[]): readonly string[] => [
  ...new Set(references.flatMap(({ store }) => store ?? [])),
]

function notByStore(reference: SecretReference, stores: readonly string[]): BrokenRule {
  const named = stores.map(quote).join(' and ')
  const fix = `give the secrets by store, such as ${byStoreShape(stores[0] ?? '', shapeOf(reference))}`
  return unresolved(reference, `which is given once though components name ${named}`, fix)
}

/** The error where the function `secrets` gave nothing. Only the name of the store is known, not what the function asks. */
function unanswered(reference: SecretReference): BrokenRule {
  const store = reference.store === undefined ? undefined : `the secret store ${quote(reference.store)}`
  const fix = store ? `put it into ${store}, which that function was asked for` : 'the component names no secret store'
  return unresolved(reference, 'for which the function secrets gave nothing', `${fix}; or correct the reference`)
}

const byStoreShape = (store: string, shape: string) => `{ "stores": { ${JSON.stringify(store)}: ${shape} } }`

const ownOf = (stores: Readonly<Record<string, Secrets>>, name: string | undefined): Secrets =>
  (name !== undefined && Object.hasOwn(stores, name) ? stores[name] : undefined) ?? {}

function troubleWith(store: string | undefined, names: readonly string[], { kind }: GivenSecrets): string {
  if (kind === 'function') return ''
  if (store !== undefined) return names.includes(store) ? '' : `there is no secret store ${quote(store)}; `
  return names.length > 0 ? `the component names no secret store: write auth: { secretStore: ${names[0]} }; or ` : ''
}

/** The secret stores of the files by name: of two with one name the first is used. */
function findStores(files: ComponentFiles, { appId }: SecretOptions, issues: MetadataIssue[]) {
  const stores = new Map<string, SecretStore>()
  for (const read of files.values()) {
    const found = read instanceof Error ? [] : read.drafts.filter(isStore)
    for (const store of found.filter((one) => isForApp(one, appId))) {
      const { name, places } = store
      const other = stores.get(name)
      if (other) issues.push(doubledName('secret store', name, other.places.name, places.name))
      else stores.set(name, store)
    }
  }
  return stores
}

/** @param kind the word for what has the name */
export const doubledName = (kind: string, name: string, owner: FilePlace, at: FilePlace): MetadataIssue => ({
  kind: 'doubledName',
  rule: `${kind} ${quote(name)} is defined at ${placeInWords(owner)} too, which is used`,
  at,
})

/** Whether a record is by store: `stores` is all that it holds, and holds objects alone. Else `stores` is a secret's name. */
export function sortRecord(given: Secrets | SecretsByStore): GivenSecrets {
  const secrets: Secrets = { ...given }
  const { stores } = secrets
  const isByStore = Object.keys(given).length === 1 && isRecord(stores) && isRecordOfRecords(stores)
  if (!isByStore) return { kind: 'byName', ask: (one) => findSecret(secrets, one) }
  return { kind: 'byStore', stores: Object.keys(stores), ask: (one) => findSecret(ownOf(stores, one.store), one) }
}

const isRecordOfRecords = (value: Secrets): value is SecretsByStore['stores'] => Object.values(value).every(isRecord)

/** What the caller's function answers, asked once for each reference. @throws TypeError where an answer is no text */
export function sortAnswers(
  references: readonly SecretReference[],
  answerTo: (reference: SecretReference) => unknown,
): GivenSecrets {
  const byKey = new Map(references.map((one) => [keyOfReference(one), checkAnswer(answerTo(one))]))
  return { kind: 'function', ask: (one) => byKey.get(keyOfReference(one)) }
}

function checkAnswer(answer: unknown): string | undefined {
  if (answer === undefined || answer === null || typeof answer === 'string') return answer ?? undefined
  const isPromise = answer instanceof Promise
  // Nobody awaits the read any more: its failure must not end the process.
  if (isPromise) answer.catch(() => {})
  const fix = isPromise ? ': loadComponents takes a function that gives a promise' : ''
  throw new TypeError(`the function secrets must give a text or undefined${fix}`)
}

/** The text of a reference; `undefined` where there is no such secret. */
export function findSecret(secrets: Secrets, { name, key }: NamedSecret): string | undefined {
  const found = descend(secrets, name)
  const text = key === name && isText(found) ? found : typeof found === 'object' ? descend(found, key) : undefined
  if (!isText(text)) return undefined
  return text instanceof Secret ? text.reveal() : text
}

function unresolved({ name, key }: NamedSecret, why: string, fix: string): BrokenRule {
  const reference = quote(key === name ? name : `${name} with key ${key}`)
  return new BrokenRule(`is a secretKeyRef to ${reference}, ${why}`, fix, 'unresolvedReference')
}

/** The JSON that holds the secret of a reference. */
function shapeOf({ name, key }: NamedSecret): string {
  const [outer, inner] = [name, key].map((part) => JSON.stringify(part.slice(0, 100)))
  return key === name ? `{ ${outer}: "…" }` : `{ ${outer}: { ${inner}: "…" } }`
}

const isText = (value: unknown): value is string | Secret => typeof value === 'string' || value instanceof Secret

/** The value under a name, or under the parts of the name between colons. */
function descend(secrets: unknown, name: string): unknown {
  const step = (holder: unknown, part: string): unknown =>
    isHolder(holder) && Object.hasOwn(holder, part) ? holder[part] : undefined
  return step(secrets, name) ?? name.split(':').reduce(step, secrets)
}

const isHolder = (value: unknown): value is Secrets => isRecord(value) && !(value instanceof Secret)
