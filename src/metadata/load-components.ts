import { createHash } from 'node:crypto'
import { BindingError, type MetadataIssue } from '../core/errors.ts'
import { Secret } from '../core/secret.ts'
import { isOurType, readDefinition, typeMeantBy } from './component-definition.ts'
import type { FolderTexts } from './component-folder.ts'
import { findHolders } from './holders.ts'
import type { Metadata } from './metadata.ts'
import { describeIssue } from './metadata-invalid.ts'
import { isForApp, outlineComponents } from './outline-components.ts'
import { type Component, type ReadComponent, type ReadComponentsOptions, readComponents } from './parse-components.ts'
import { metadataFaults, parseMetadata } from './parse-metadata.ts'
import type { Secrets } from './resolve-reference.ts'
import { createSecretSources, type StoreFiles, type StoresByFile } from './secret-sources.ts'
import { isSecretStore } from './secret-stores.ts'
import type { Told } from './told.ts'

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
  /** The secret stores of each file, in the same way. */
  readonly storesByFile: StoresByFile
  /** Where those stand that count. */
  readonly storeFiles: StoreFiles
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
  /** Fills in placeholders of a value, or throws BrokenRule. */
  readonly fill: (text: string) => string
  /** Reads the secrets beside those of the secret stores in the folder. A SecretStoreError becomes a fault. */
  readonly secrets: () => Secrets
  /** What was loaded before; a broken file keeps what it held. */
  readonly before?: Loaded | undefined
}

/**
 * Reads the components out of a folder's files: references resolved, metadata validated, everything
 * that is wrong reported at once.
 */
export function loadComponents(texts: FolderTexts, options: LoadOptions): Loaded {
  const faults: string[] = []
  const notes: string[] = []
  const { before } = options
  const outlines = new Map(
    [...texts].map(([file, text]) => [file, text instanceof Error ? undefined : outlineComponents(text)] as const),
  )
  const storesByFile: StoresByFile = new Map(
    [...outlines].map(([file, outlined]) => [
      file,
      outlined?.filter(({ type }) => isSecretStore(type)) ?? before?.storesByFile.get(file),
    ]),
  )
  const { sourcesOf, storeFiles } = createSecretSources(
    storesByFile,
    { ...options, before: before?.storeFiles },
    { faults, notes },
  )
  const byFile = new Map<string, readonly LoadedComponent[]>()
  for (const [file, text] of texts) {
    const loaded = loadFile(file, text, { appId: options.appId, sourcesOf }, { faults, notes })
    byFile.set(file, loaded ?? before?.byFile.get(file) ?? [])
  }
  const holders = findHolders(
    byFile,
    {
      kind: 'component',
      nameOf: (one) => one.component.name,
      heldBefore: (name, file) => before?.byFile.get(file)?.some((one) => one === before.components.get(name)) ?? false,
    },
    faults,
  )
  const components = new Map([...holders].map(([name, { held }]) => [name, held]))
  return { components, byFile, storesByFile, storeFiles, faults, notes }
}

const mostListed = 50

interface LoadContext {
  readonly appId: string
  readonly sourcesOf: ReadComponentsOptions['sourcesOf']
}

/** `undefined` where the file is broken, or needs secrets that can't be read. */
function loadFile(
  file: string,
  text: string | Error,
  { appId, sourcesOf }: LoadContext,
  { faults, notes }: Told,
): readonly LoadedComponent[] | undefined {
  if (text instanceof Error) {
    faults.push(`${file} can't be read: ${text.message}`)
    return undefined
  }
  const read = readComponents(text, file, { sourcesOf, appId })
  notes.push(...read.leftOut.map((one) => one.text))
  const taken = read.components.filter(({ component: { name, type }, scopes }) => {
    if (!isForApp({ scopes }, appId)) {
      const notUs = appId === '' ? 'and there is no --app-id' : `not for ${appId}`
      notes.push(`${file}: component ${name} is for ${scopes.join(', ')}, ${notUs}: left out`)
      return false
    }
    if (isOurType(type) || isSecretStore(type)) return true
    const meant = typeMeantBy(type)
    const more = meant === undefined ? '' : `; did you mean ${meant}?`
    notes.push(`${file}: component ${name} is a ${type}, which is not ours: left out${more}`)
    return false
  })
  const judged = taken.filter(({ component }) => isOurType(component.type)).map(judge)
  // What is left out may be wrong as it likes.
  const others = new Set(read.components.filter((one) => !taken.includes(one)).flatMap((one) => one.issues))
  const issues = [...read.issues.filter((issue) => !others.has(issue)), ...judged.flatMap((one) => one.issues)]
  if (issues.length > 0) {
    const lines = issues.slice(0, mostListed).map(describeIssue)
    if (issues.length > mostListed) lines.push(`${file}: and ${issues.length - mostListed} more`)
    faults.push(lines.join('\n'))
  }
  const loaded = judged.flatMap((one) => one.loaded ?? [])
  return issues.length > 0 || loaded.length < judged.length ? undefined : loaded
}

/** A component with its metadata, or with all that is wrong with it; with neither where a secret could not be read. */
function judge({ component, known, at }: ReadComponent): {
  readonly loaded?: LoadedComponent
  readonly issues: readonly MetadataIssue[]
} {
  const { name, type, version, properties } = component
  const options = { componentName: name }
  const issues = [...definitionFaults(component), ...metadataFaults(known, options)].map((one) => ({ at, ...one }))
  if (issues.length > 0 || Object.keys(known).length > Object.keys(properties).length) return { issues }
  const metadata = parseMetadata(properties, options)
  const values = Object.entries(properties).map(([key, value]) => [
    key,
    value instanceof Secret ? value.reveal() : value,
  ])
  const fingerprint = createHash('sha256')
    .update(JSON.stringify([type, version, values]))
    .digest('hex')
  return { loaded: { component, metadata, fingerprint }, issues }
}

function definitionFaults(component: Component): readonly MetadataIssue[] {
  try {
    readDefinition(component)
    return []
  } catch (error) {
    if (error instanceof BindingError) return error.issues
    throw error
  }
}
