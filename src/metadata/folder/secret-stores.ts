// Local secret stores `secretstores.local.file` and `.env`: reading, prefix, nested secrets, file faults.
import { isAbsolute } from 'node:path'
import { readRegularFile, readRegularFileSync } from '../../support/files/regular-file.ts'
import { messageOf } from '../../support/process/error-code.ts'
import { isRecord } from '../../support/text/is-record.ts'
import { readJson } from '../../support/text/json-text.ts'
import { quote } from '../../support/text/text.ts'
import { type ComponentDraft, type ComponentFiles, isForApp } from '../component/component-file.ts'
import type { ReferenceSources, Secrets } from '../component/component-properties.ts'
import { findHolders, type Holders } from './holders.ts'

export class SecretStoreError extends Error {
  override readonly name = 'SecretStoreError'
}

/** Collects texts for the user while component files are read. */
export interface Diagnostics {
  readonly faults: string[]
  readonly notes: string[]
}

type Environment = Readonly<Record<string, string | undefined>>

/** A component that describes one of Dapr's local secret stores. */
type SecretStore = ComponentDraft & { readonly name: string; readonly type: string }

/** The secret stores of a folder. */
export interface SecretStores {
  /** Those of each file; of a broken file the previous ones, `undefined` where it has always been broken. */
  readonly storesByFile: ReadonlyMap<string, readonly SecretStore[] | undefined>
  /** Those that are used, by name. */
  readonly stores: Holders<SecretStore>
}

export interface SecretOptions {
  /** The application's id: a component whose `scopes` do not name it is left out. */
  readonly appId: string
  readonly env: Environment
  /** Fills in placeholders of a value, or throws BrokenRule. */
  readonly fill: (text: string) => string
  /** Reads secrets from elsewhere, which go before those of the folder's secret stores. A SecretStoreError becomes a fault. */
  readonly secrets: () => Secrets
  /** The previous stores: a copy of a file does not replace it. */
  readonly before?: SecretStores | undefined
}

/** Dapr's local secret stores, by component type in lower case; their values by name in lower case. */
const readers: Readonly<Record<string, (values: ReadonlyMap<string, string>, env: Environment) => Secrets>> = {
  'secretstores.local.file': (values) => readSecretsFile(values.get('secretsfile') ?? ''),
  'secretstores.local.env': (values, env) => environmentSecrets(values.get('prefix') ?? '', env),
}

export function isSecretStore(type: string): boolean {
  return Object.hasOwn(readers, type.toLowerCase())
}

const isStore = (draft: ComponentDraft): draft is SecretStore =>
  draft.name !== undefined && draft.type !== undefined && isSecretStore(draft.type)

/**
 * Finds the secrets for the references of a folder's components: in the store that a component names, else in the only
 * store. If a store or a file is broken, secrets that may be in it count as unknown.
 */
export function createSecretSources(files: ComponentFiles, options: SecretOptions, diagnostics: Diagnostics) {
  const { appId, env, fill, before } = options
  const storesByFile: SecretStores['storesByFile'] = new Map(
    [...files].map(([file, read]) => {
      const previous = before?.storesByFile.get(file)
      if (read instanceof Error || read.isBroken) return [file, previous]
      const now = read.drafts.filter(isStore)
      return [file, read.leftOut.some(({ isMistake }) => isMistake) ? (previous ?? now) : now]
    }),
  )
  const claims = [...storesByFile].flatMap(([file, stores = []]) =>
    stores.filter((store) => isForApp(store, appId)).map((held) => ({ name: held.name, file, held })),
  )
  const stores = findHolders('secret store', claims, before?.stores, diagnostics.faults)
  const byStore = new Map([...stores].map(([name, { held }]) => [name, readSecretStore(held, options, diagnostics)]))
  const given = readGiven(options.secrets, diagnostics)
  const names = [...stores.keys()]
  const unknown = [...storesByFile.values()].includes(undefined) ? undefined : {}
  const only = names.length === 1 && unknown ? names[0] : undefined
  return {
    storesByFile,
    stores,
    /** What a component's references refer to, given the secret store that it names. */
    sourcesOf(named: string | undefined): ReferenceSources {
      const store = named || only
      const inStore = store !== undefined && byStore.has(store) ? byStore.get(store) : unknown
      const secrets = inStore && given && { ...inStore, ...given }
      return { env, fill, secrets, advice: (shape) => troubleWith(store, names) + placeFor(shape) }
    },
  }
}

const placeFor = (shape: string) =>
  `put ${shape} into a JSON file, and name that by --secrets FILE or in a secretstores.local.file component`

function troubleWith(store: string | undefined, names: readonly string[]): string {
  if (store !== undefined) return names.includes(store) ? '' : `there is no secret store ${quote(store)}; `
  if (names.length < 2) return ''
  return `the component names none of the secret stores: write auth: { secretStore: ${names[0]} }; or `
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

/** The secrets of a store; `undefined` where it can't be read. Reports why, and what daprd would do differently. */
function readSecretStore(
  { name, type, entries }: SecretStore,
  { env, fill }: SecretOptions,
  { faults, notes }: Diagnostics,
): Secrets | undefined {
  try {
    // References are left out.
    const filled = new Map<string, string>()
    for (const { name, source } of entries)
      if (source.kind === 'value') filled.set(name.toLowerCase(), fill(String(source.value)))
    const secrets = readers[type.toLowerCase()]?.(filled, env) ?? {}
    const isNested = Object.values(secrets).some((value) => typeof value === 'object')
    if (isNested && filled.get('multivalued') !== 'true')
      notes.push(`secret store ${name}: daprd finds a secret with keys only where the store says multiValued: "true"`)
    return secrets
  } catch (error) {
    faults.push(`secret store ${name}: ${messageOf(error)}`)
    return undefined
  }
}

/**
 * Reads a JSON file of secrets, in the form of Dapr's local file store; a relative path counts from the
 * working folder, as it does there.
 *
 * @throws SecretStoreError, which quotes nothing of the file
 */
export function readSecretsFile(file: string): Secrets {
  if (file === '') throw new SecretStoreError('secretsFile is missing')
  let text: string
  try {
    text = readRegularFileSync(file)
  } catch (error) {
    throw unreadable(file, error)
  }
  return parseSecrets(file, text)
}

/** The text of a JSON file of secrets, or why it can't be read. */
export async function readSecretsText(file: string): Promise<string | SecretStoreError> {
  return readRegularFile(file).catch((error: unknown) => unreadable(file, error))
}

/**
 * The secrets of a file that was read before.
 *
 * @throws SecretStoreError, which quotes nothing of the text
 */
export function parseSecrets(file: string, text: string | SecretStoreError): Secrets {
  if (text instanceof SecretStoreError) throw text
  // Without the parser's own message: that would quote the text, which is secret.
  const value = readJson(text)
  if (isRecord(value)) return value
  throw new SecretStoreError(`${file} must hold a JSON object`)
}

function unreadable(file: string, cause: unknown): SecretStoreError {
  const counts = isAbsolute(file) ? '' : `; a relative path counts from the working folder, ${process.cwd()}`
  return new SecretStoreError(`${file} can't be read: ${messageOf(cause)}${counts}`, { cause })
}

/**
 * The variables that begin with a prefix, by the rest of their name, without Dapr's own settings,
 * which Dapr hides from components too.
 */
function environmentSecrets(prefix: string, env: Environment): Secrets {
  const names = Object.keys(env).filter((name) => name.startsWith(prefix) && !/^(DAPR_|APP_API_TOKEN$)/i.test(name))
  return Object.fromEntries(names.map((name) => [name.slice(prefix.length), env[name]]))
}
