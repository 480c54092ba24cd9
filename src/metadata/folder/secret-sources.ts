/** Where the secret of a reference comes from: what the caller gives, then the secret store that the component names, else the only one. */
import type { MetadataIssue } from '../../core/errors.ts'
import { quote } from '../../support/text/text.ts'
import { type ComponentDraft, type ComponentFiles, isForApp } from '../component/component-file.ts'
import type { Environment } from '../component/component-properties.ts'
import {
  findSecret,
  missingSecret,
  quoteReference,
  type SecretReference,
  type Secrets,
  shapeOf,
} from '../component/secret-reference.ts'
import { BrokenRule } from '../fields/broken-rule.ts'
import { type GivenSecrets, keyOfReference } from './given-secrets.ts'
import { doubledName, findHolders, type Holders } from './holders.ts'
import { isStore, readSecretStore, type SecretStore } from './secret-stores.ts'
import type { CallerWords } from './take-components.ts'

/** The secret stores of the files. */
export interface SecretStores {
  /** Those of each file; of a broken file the previous ones, `undefined` where it has always been broken. */
  readonly storesByFile: ReadonlyMap<string, readonly SecretStore[] | undefined>
  /** Those that are used, by name. */
  readonly stores: Holders<SecretStore>
}

export interface SecretOptions {
  /** The application's id: a component whose `scopes` do not name it is left out. @default all count */
  readonly appId?: string | undefined
  readonly env: Environment
  /** Fills in placeholders of a value, or throws BrokenRule. */
  readonly fill: (text: string) => string
  /** Those that the caller gives; they go before those of secret stores. */
  readonly given: GivenSecrets
  readonly words: CallerWords
  /** The previous stores: a copy of a file does not replace it. */
  readonly before?: SecretStores | undefined
}

/** Finds the secrets for the references of components. If a store or a file is broken, secrets that may be in it count as unknown. */
export function createSecretSources(files: ComponentFiles, drafts: readonly ComponentDraft[], options: SecretOptions) {
  const { given, words } = options
  const issues: MetadataIssue[] = []
  const notes: string[] = []
  if (given.kind === 'unreadable') issues.push({ kind: 'secretStore', rule: given.why })
  const { storesByFile, stores } = findStores(files, options, issues)
  const local = new Map(
    [...stores].map(([name, { item }]) => [name, readSecretStore(item, options, { issues, notes })]),
  )
  /** Files that are broken: a store may be in one of them. */
  const hiding = [...storesByFile].flatMap(([file, found]) => (found ? [] : file))
  const names = [...new Set([...local.keys(), ...(given.kind === 'byStore' ? Object.keys(given.stores) : [])])]
  const contested = given.kind === 'byName' ? storesNamed(drafts, given.secrets) : []
  const isByStore = given.kind === 'byStore' || (given.kind === 'byName' && storesNamed(drafts).length > 1)

  function secretOf(reference: SecretReference): string | undefined {
    const store = reference.store ?? (names.length === 1 && hiding.length === 0 ? names[0] : undefined)
    const searched: Secrets[] = []
    if (given.kind === 'unreadable') return undefined
    if (given.kind === 'function') {
      const answer = given.ask(reference)
      if (answer !== undefined) return answer
    } else {
      const secrets = given.kind === 'byName' ? given.secrets : ownOf(given.stores, store)
      const text = findSecret(secrets, reference)
      const isNamed = reference.store !== undefined
      if (text !== undefined && isNamed && contested.length > 1) throw notByStore(reference, contested)
      if (text !== undefined) return text
      searched.push(secrets)
    }
    const isLocal = store !== undefined && local.has(store)
    const secrets = isLocal ? local.get(store) : {}
    if (!secrets) return undefined
    const where = (shape: string) =>
      (!isLocal && hiding.length > 0 ? `mend ${hiding.join(', ')} first, where a secret store may be; or ` : '') +
      troubleWith(store, names, given) +
      words.secret(isByStore && store !== undefined ? byStoreShape(store, shape) : shape)
    const text = findSecret(secrets, reference)
    if (text === undefined) throw missingSecret(reference, [...searched, secrets], where)
    return text
  }

  return { storesByFile, stores, issues, notes, secretOf }
}

/** The references of components, each once. */
export function referencesOf(drafts: readonly ComponentDraft[]): readonly SecretReference[] {
  const all = drafts.flatMap(({ entries }) =>
    entries.flatMap(({ source }) => (source.kind === 'secretKeyRef' ? source.reference : [])),
  )
  return [...new Map(all.map((one) => [keyOfReference(one), one])).values()]
}

/**
 * The stores that references name; with `secrets` those whose references lead into these. With two of them it is not known whose secret
 * a record by name holds.
 */
function storesNamed(drafts: readonly ComponentDraft[], secrets?: Secrets): readonly string[] {
  const leading = referencesOf(drafts).filter((one) => !secrets || findSecret(secrets, one) !== undefined)
  return [...new Set(leading.flatMap(({ store }) => store ?? []))]
}

function notByStore(reference: SecretReference, stores: readonly string[]): BrokenRule {
  const named = stores.map(quote).join(' and ')
  const rule = `is a secretKeyRef to ${quoteReference(reference)}, which is given once though components name ${named}`
  const fix = `give the secrets by store, such as ${byStoreShape(stores[0] ?? '', shapeOf(reference))}`
  return new BrokenRule(rule, fix, 'unresolvedReference')
}

const byStoreShape = (store: string, shape: string) => `{ "stores": { ${JSON.stringify(store)}: ${shape} } }`

const ownOf = (stores: Readonly<Record<string, Secrets>>, name: string | undefined): Secrets =>
  (name !== undefined && Object.hasOwn(stores, name) ? stores[name] : undefined) ?? {}

function troubleWith(store: string | undefined, names: readonly string[], { kind }: GivenSecrets): string {
  if (kind === 'function') return ''
  if (store !== undefined) return names.includes(store) ? '' : `there is no secret store ${quote(store)}; `
  if (names.length < 2) return ''
  return `the component names none of the secret stores: write auth: { secretStore: ${names[0]} }; or `
}

function findStores(files: ComponentFiles, { appId, before }: SecretOptions, issues: MetadataIssue[]): SecretStores {
  const storesByFile: SecretStores['storesByFile'] = new Map(
    [...files].map(([file, read]) => {
      const previous = before?.storesByFile.get(file)
      if (read instanceof Error || read.isBroken) return [file, previous]
      const now = read.drafts.filter(isStore)
      return [file, read.leftOut.some(({ isMistake }) => isMistake) ? (previous ?? now) : now]
    }),
  )
  const claims = [...storesByFile].flatMap(([file, stores = []]) =>
    stores.filter((store) => isForApp(store, appId)).map((item) => ({ name: item.name, file, item })),
  )
  const { holders, doubled } = findHolders(claims, before?.stores)
  issues.push(
    ...doubled.map(({ item: { places }, name, owner }) => doubledName('secret store', name, owner, places.name)),
  )
  return { storesByFile, stores: holders }
}
