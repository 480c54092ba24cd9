import { quote } from '../support/text.ts'
import { isForApp } from './component-file.ts'
import { findHolders } from './holders.ts'
import type { ResolveOptions } from './parse-components.ts'
import type { Secrets } from './resolve-reference.ts'
import { readSecretStore, type SecretStore, SecretStoreError } from './secret-stores.ts'
import type { Told } from './told.ts'

/** The secret stores of each file; `undefined` for a file that is broken and has never been whole. */
export type StoresByFile = ReadonlyMap<string, readonly SecretStore[] | undefined>

/** The file that each secret store stands in, by the store's name. */
export type StoreFiles = ReadonlyMap<string, string>

interface SecretSourcesOptions {
  readonly appId: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly fill: (text: string) => string
  /** The secrets that come first, whatever store a component names. A SecretStoreError becomes a fault. */
  readonly secrets: () => Secrets
  /** Where the stores stood before: a copy of a store's file does not take its place. */
  readonly before: StoreFiles | undefined
}

/** Where references lead. */
interface SecretSources {
  readonly sourcesOf: ResolveOptions['sourcesOf']
  readonly storeFiles: StoreFiles
}

/**
 * Where the references of a folder's components lead: to the store that a component names, or where it names none to the only one that there is. What can't be
 * known, for a store or a file is broken, is not judged.
 */
export function createSecretSources(byFile: StoresByFile, options: SecretSourcesOptions, told: Told): SecretSources {
  const { env, fill } = options
  const stores = findStores(byFile, options, told)
  const byStore = new Map(
    [...stores].map(([name, { held }]) => [name, readSecretStore(held, { env, fill }, told)] as const),
  )
  const given = readGiven(options.secrets, told)
  const names = [...stores.keys()]
  const unknown = [...byFile.values()].includes(undefined) ? undefined : {}
  const only = names.length === 1 && unknown ? names[0] : undefined
  const secretsIn = (store: string | undefined) =>
    store !== undefined && byStore.has(store) ? byStore.get(store) : unknown
  const trouble = (store: string | undefined) => {
    if (store !== undefined) return byStore.has(store) ? '' : `there is no secret store ${quote(store)}; `
    return names.length > 1
      ? `the component names none of the secret stores: write auth: { secretStore: ${names[0]} }; or `
      : ''
  }
  return {
    storeFiles: new Map([...stores].map(([name, { file }]) => [name, file])),
    sourcesOf(named) {
      const store = named || undefined
      const inStore = secretsIn(store ?? only)
      return {
        env,
        fill,
        secrets: inStore && given && { ...inStore, ...given },
        advice: (shape) =>
          `${trouble(store)}put ${shape} into a JSON file, and name that by --secrets FILE or in a secretstores.local.file component`,
      }
    },
  }
}

/** The stores for this application by name. */
function findStores(byFile: StoresByFile, { appId, before }: SecretSourcesOptions, { faults }: Told) {
  const ours = new Map(
    [...byFile].map(([file, stores = []]) => [file, stores.filter((store) => isForApp(store, appId))] as const),
  )
  return findHolders(
    ours,
    { kind: 'secret store', nameOf: ({ name }) => name, heldBefore: (name, file) => before?.get(name) === file },
    faults,
  )
}

function readGiven(secrets: () => Secrets, { faults }: Told): Secrets | undefined {
  try {
    return secrets()
  } catch (error) {
    if (!(error instanceof SecretStoreError)) throw error
    faults.push(`--secrets: ${error.message}`)
    return undefined
  }
}
