import { createHash } from 'node:crypto'
import { BindingError } from '../errors.ts'
import { isOurType, readDefinition } from '../metadata/component-definition.ts'
import type { Metadata } from '../metadata/metadata.ts'
import { outlineComponents } from '../metadata/outline-components.ts'
import { type Component, parseComponents } from '../metadata/parse-components.ts'
import { parseMetadata } from '../metadata/parse-metadata.ts'
import type { Secrets } from '../metadata/resolve-reference.ts'
import { Secret } from '../secret.ts'
import type { FolderTexts } from './component-folder.ts'
import { isSecretStore, readSecretStores, SecretStoreError } from './secret-stores.ts'

/** A component that can be run: its metadata is valid. */
export interface LoadedComponent {
  readonly component: Component
  readonly metadata: Metadata
  /** Equal for two that say the same. Holds no secret: a hash. */
  readonly fingerprint: string
}

/** What the files of a folder come to. */
export interface Loaded {
  /** By name. What a broken file held before stands in here still. */
  readonly components: ReadonlyMap<string, LoadedComponent>
  /** The components of each file that is not broken, and of each broken one as it was before. */
  readonly byFile: ReadonlyMap<string, readonly LoadedComponent[]>
  /** A text for each broken file. */
  readonly faults: readonly string[]
  /** What was left out, and why. */
  readonly notes: readonly string[]
}

/** What {@link loadComponents} needs beside the files. */
export interface LoadOptions {
  /** The application's id: a component whose `scopes` do not name it is left out. */
  readonly appId: string
  /** What `envRef` and Dapr's `secretstores.local.env` refer to. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Secrets beside those of the secret stores in the folder. */
  readonly secrets: Secrets
  /** What was loaded before; a broken file keeps what it held. */
  readonly before?: Loaded | undefined
}

/** Reads the components out of a folder's files: references resolved, metadata validated, everything that is wrong reported at once. */
export function loadComponents(texts: FolderTexts, options: LoadOptions): Loaded {
  const faults: string[] = []
  const notes: string[] = []
  const secrets = allSecrets(texts, options, faults)
  const byFile = new Map<string, readonly LoadedComponent[]>()
  for (const [file, text] of texts) {
    const loaded = secrets && loadFile(file, text, { ...options, secrets }, { faults, notes })
    byFile.set(file, loaded ?? options.before?.byFile.get(file) ?? [])
  }
  const components = new Map<string, LoadedComponent>()
  for (const [file, loaded] of byFile) {
    for (const one of loaded) {
      const { name } = one.component
      if (components.has(name))
        faults.push(`${file}: there is another component ${JSON.stringify(name)}; the first counts`)
      else components.set(name, one)
    }
  }
  return { components, byFile, faults, notes }
}

/** `undefined` where a store can't be read: then nothing that refers to it can be judged. */
function allSecrets(texts: FolderTexts, { env, secrets }: LoadOptions, faults: string[]): Secrets | undefined {
  const outlines = [...texts.values()].flatMap((text) => (text instanceof Error ? [] : outlineComponents(text)))
  try {
    return { ...readSecretStores(outlines, env), ...secrets }
  } catch (error) {
    if (!(error instanceof SecretStoreError)) throw error
    faults.push(error.message)
    return undefined
  }
}

function loadFile(
  file: string,
  text: string | Error,
  { appId, env, secrets }: LoadOptions,
  { faults, notes }: { readonly faults: string[]; readonly notes: string[] },
): readonly LoadedComponent[] | undefined {
  if (text instanceof Error) {
    faults.push(`${file} can't be read: ${text.message}`)
    return undefined
  }
  const scopes = new Map(outlineComponents(text).map((outline) => [outline.name, outline.scopes]))
  try {
    return parseComponents(text, { file, env, secrets }).flatMap((component) => {
      const { name, type } = component
      const forApps = scopes.get(name) ?? []
      if (forApps.length > 0 && !forApps.includes(appId)) {
        notes.push(`${file}: component ${name} is for ${forApps.join(', ')}, not for ${appId}: left out`)
        return []
      }
      if (!isOurType(type)) {
        if (!isSecretStore(type)) notes.push(`${file}: component ${name} is a ${type}, which is not ours: left out`)
        return []
      }
      return [validated(component)]
    })
  } catch (error) {
    if (!(error instanceof BindingError)) throw error
    const said = error.message.replace(/^METADATA_INVALID: /, '')
    faults.push(said.includes(file) ? said : `${file}: ${said}`)
    return undefined
  }
}

function validated(component: Component): LoadedComponent {
  const { name, type, version, properties } = component
  readDefinition(component)
  const metadata = parseMetadata(properties, { componentName: name, allowAnyPort: true })
  const values = Object.entries(properties).map(([key, value]) => [
    key,
    value instanceof Secret ? value.reveal() : value,
  ])
  const fingerprint = createHash('sha256')
    .update(JSON.stringify([type, version, values]))
    .digest('hex')
  return { component, metadata, fingerprint }
}
