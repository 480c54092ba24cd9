import { isAbsolute } from 'node:path'
import { messageOf } from '../support/error-code.ts'
import { isRecord } from '../support/is-record.ts'
import { readJson } from '../support/json-text.ts'
import { readRegularFile, readRegularFileSync } from '../support/regular-file.ts'
import type { ComponentDraft } from './component-file.ts'
import type { Diagnostics } from './diagnostics.ts'
import type { Secrets } from './resolve-reference.ts'

export class SecretStoreError extends Error {
  override readonly name = 'SecretStoreError'
}

/** Dapr's local secret stores, by component type in lower case; their values by name in lower case. */
const stores: Readonly<Record<string, (values: ReadonlyMap<string, string>, env: Environment) => Secrets>> = {
  'secretstores.local.file': (values) => readSecretsFile(values.get('secretsfile') ?? ''),
  'secretstores.local.env': (values, env) => environmentSecrets(values.get('prefix') ?? '', env),
}

type Environment = Readonly<Record<string, string | undefined>>

export interface SecretStore {
  readonly name: string
  readonly type: string
  readonly scopes: readonly string[]
  /** Its values as text; references are left out. */
  readonly values: ReadonlyMap<string, string>
}

/** The secret store that a component describes, if it is one that this host reads itself. */
export function secretStoreOf({ name, type, scopes, entries }: ComponentDraft): SecretStore[] {
  if (name === undefined || type === undefined || !isSecretStore(type)) return []
  const values = entries.flatMap(({ name, source }) =>
    source.kind === 'value' ? [[name, String(source.value)] as const] : [],
  )
  return [{ name, type, scopes, values: new Map(values) }]
}

export function isSecretStore(type: string): boolean {
  return Object.hasOwn(stores, type.toLowerCase())
}

interface StoreContext {
  readonly env: Environment
  readonly fill: (text: string) => string
}

/** The secrets of a store; `undefined` where it can't be read. Reports why, and what daprd would do differently. */
export function readSecretStore(
  { name, type, values }: SecretStore,
  { env, fill }: StoreContext,
  { faults, notes }: Diagnostics,
): Secrets | undefined {
  try {
    const filled = new Map([...values].map(([key, text]) => [key.toLowerCase(), fill(text)] as const))
    const secrets = stores[type.toLowerCase()]?.(filled, env) ?? {}
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
