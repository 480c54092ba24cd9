import { quote } from '../support/text.ts'
import { type ComponentFiles, isForApp } from './component-file.ts'
import type { Diagnostics } from './diagnostics.ts'
import { findHolders } from './holders.ts'
import type { ResolveOptions } from './parse-components.ts'
import type { Secrets } from './resolve-reference.ts'
import { readSecretStore, type SecretStore, SecretStoreError, secretStoreOf } from './secret-stores.ts'

/** The secret stores of each file; `undefined` for a file that has always been broken. */
export type StoresByFile = ReadonlyMap<string, readonly SecretStore[] | undefined>

export type StoreFiles = ReadonlyMap<string, string>

interface SecretSourcesOptions {
  readonly appId: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly fill: (text: string) => string
  /** Secrets that go before those of every store. A SecretStoreError becomes a fault. */
  readonly secrets: () => Secrets
  /** The previous files of the stores: a copy of a file does not replace it. */
  readonly before: { readonly storesByFile: StoresByFile; readonly storeFiles: StoreFiles } | undefined
}

interface SecretSources {
  readonly sourcesOf: ResolveOptions['sourcesOf']
  readonly storesByFile: StoresByFile
  readonly storeFiles: StoreFiles
}

/**
 * Finds the secrets for the references of a folder's components: in the store that a component names, else in the only
 * store. If a store or a file is broken, secrets that may be in it count as unknown.
 */
export function createSecretSources(
  files: ComponentFiles,
  options: SecretSourcesOptions,
  diagnostics: Diagnostics,
): SecretSources {
  const { env, fill, before } = options
  const byFile: StoresByFile = new Map(
    [...files].map(([file, read]) => [
      file,
      read instanceof Error || read.isBroken ? before?.storesByFile.get(file) : read.drafts.flatMap(secretStoreOf),
    ]),
  )
  const stores = findStores(byFile, options, diagnostics)
  const byStore = new Map(
    [...stores].map(([name, { held }]) => [name, readSecretStore(held, { env, fill }, diagnostics)] as const),
  )
  const given = readGiven(options.secrets, diagnostics)
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
    storesByFile: byFile,
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

function findStores(byFile: StoresByFile, { appId, before }: SecretSourcesOptions, { faults }: Diagnostics) {
  const ours = new Map(
    [...byFile].map(([file, stores = []]) => [file, stores.filter((store) => isForApp(store, appId))] as const),
  )
  return findHolders(
    ours,
    {
      kind: 'secret store',
      nameOf: ({ name }) => name,
      heldBefore: (name, file) => before?.storeFiles.get(name) === file,
    },
    faults,
  )
}

function readGiven(secrets: () => Secrets, { faults }: Diagnostics): Secrets | undefined {
  try {
    return secrets()
  } catch (error) {
    if (!(error instanceof SecretStoreError)) throw error
    faults.push(`--secrets: ${error.message}`)
    return undefined
  }
}
