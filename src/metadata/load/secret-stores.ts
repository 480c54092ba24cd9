/** Reads the local secret stores among the components: `secretstores.local.file` and `.env`. */
import { isAbsolute } from 'node:path'
import type { MetadataIssue } from '../../core/errors.ts'
import { readRegularFile, readRegularFileSync } from '../../support/files/regular-file.ts'
import { messageOf } from '../../support/process/error-code.ts'
import { isRecord, readJson } from '../../support/text/json-text.ts'
import type { ComponentDraft } from '../component/component-file.ts'
import { type Environment, isOfDapr, resolveEnvRef } from '../component/component-properties.ts'

/**
 * Secrets to resolve `secretKeyRef` from, as Dapr's local file store has them: texts by name, or
 * objects of texts, which a colon in the name or key goes down into (`redis:password`). Takes what
 * `JSON.parse` gives; only texts resolve.
 */
export type Secrets = Readonly<Record<string, unknown>>

/** A component that describes one of Dapr's local secret stores. */
export type SecretStore = ComponentDraft & { readonly name: string; readonly type: string }

/** Dapr's local secret stores, by component type in lower case; their values by name in lower case. */
const readers: Readonly<Record<string, (values: ReadonlyMap<string, string>, env: Environment) => Secrets>> = {
  'secretstores.local.file': (values) => readSecretsFile(values.get('secretsfile') ?? ''),
  'secretstores.local.env': (values, env) => environmentSecrets(values.get('prefix') ?? '', env),
}

export function isSecretStore(type: string): boolean {
  return Object.hasOwn(readers, type.toLowerCase())
}

export const isStore = (draft: ComponentDraft): draft is SecretStore =>
  draft.name !== undefined && draft.type !== undefined && isSecretStore(draft.type)

/** The secrets of a store; `undefined` where the store can't be read, which is a fault in `issues`. */
export function readSecretStore(
  { name, type, entries, places }: SecretStore,
  { env, fill }: { readonly env: Environment; readonly fill: (text: string) => string },
  issues: MetadataIssue[],
): Secrets | undefined {
  try {
    const filled = new Map<string, string>()
    for (const { name, source } of entries) {
      if (source.kind === 'secretKeyRef') throw new Error(`${name} must be a value or an envRef`)
      if (source.kind === 'value') filled.set(name.toLowerCase(), fill(String(source.value)))
      if (source.kind === 'envRef') filled.set(name.toLowerCase(), fill(resolveEnvRef(source.variable, env)))
    }
    return readers[type.toLowerCase()]?.(filled, env) ?? {}
  } catch (error) {
    issues.push({ kind: 'secretStore', rule: `secret store ${name}: ${messageOf(error)}`, at: places.name })
    return undefined
  }
}

/** A relative path counts from the working folder, as for Dapr. */
function readSecretsFile(file: string): Secrets {
  if (file === '') throw new Error('secretsFile is missing')
  let text: string
  try {
    text = readRegularFileSync(file)
  } catch (error) {
    throw unreadable(file, error)
  }
  return parseSecrets(file, text)
}

/** The text of a JSON file of secrets, or why the file can't be read. */
export async function readSecretsText(file: string): Promise<string | Error> {
  return readRegularFile(file).catch((error: unknown) => unreadable(file, error))
}

/** The secrets of a JSON file that was read, in the form of Dapr's local file store. @throws an Error, which quotes nothing of the text */
export function parseSecrets(file: string, text: string | Error): Secrets {
  if (text instanceof Error) throw text
  // Without the parser's own message: that would quote the text, which is secret.
  const value = readJson(text)
  if (isRecord(value)) return value
  throw new Error(`${file} must hold a JSON object`)
}

function unreadable(file: string, cause: unknown): Error {
  const counts = isAbsolute(file) ? '' : `; a relative path counts from the working folder, ${process.cwd()}`
  return new Error(`${file} can't be read: ${messageOf(cause)}${counts}`, { cause })
}

/** The variables that begin with a prefix, by the rest of their name, without Dapr's own settings, which Dapr hides from components too. */
function environmentSecrets(prefix: string, env: Environment): Secrets {
  const names = Object.keys(env).filter((name) => name.startsWith(prefix) && !isOfDapr(name))
  return Object.fromEntries(names.map((name) => [name.slice(prefix.length), env[name]]))
}
