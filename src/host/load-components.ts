import { createHash } from 'node:crypto'
import { BindingError, type MetadataIssue } from '../errors.ts'
import { isOurType, readDefinition, typeMeantBy } from '../metadata/component-definition.ts'
import type { Metadata } from '../metadata/metadata.ts'
import { describeIssue } from '../metadata/metadata-invalid.ts'
import { type ComponentOutline, outlineComponents } from '../metadata/outline-components.ts'
import {
  type Component,
  type ReadComponent,
  type ReadComponentsOptions,
  readComponents,
} from '../metadata/parse-components.ts'
import { metadataFaults, parseMetadata } from '../metadata/parse-metadata.ts'
import { quote } from '../metadata/redact.ts'
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
  const outlines = new Map(
    [...texts].map(([file, text]) => [file, text instanceof Error ? [] : outlineComponents(text)] as const),
  )
  const sourcesOf = secretSources([...outlines.values()].flat(), options, { faults, notes })
  const byFile = new Map<string, readonly LoadedComponent[]>()
  for (const [file, text] of texts) {
    const scopes = new Map(outlines.get(file)?.map((outline) => [outline.name, outline.scopes]))
    const loaded = loadFile(file, text, { appId: options.appId, scopes, sourcesOf }, { faults, notes })
    byFile.set(file, loaded ?? options.before?.byFile.get(file) ?? [])
  }
  const components = new Map<string, LoadedComponent>()
  for (const [name, [first, ...others]] of holdersOf(byFile, options.before)) {
    if (first) components.set(name, first.loaded)
    for (const { file } of others)
      faults.push(`${file}: component ${JSON.stringify(name)} stands in ${first?.file} too, and that one counts`)
  }
  return { components, byFile, faults, notes }
}

interface Holder {
  readonly file: string
  readonly loaded: LoadedComponent
}

/** Who holds each component, by its name: first the file that did so before, for what runs is not replaced by a copy of it. */
function holdersOf(byFile: Loaded['byFile'], before: Loaded | undefined): ReadonlyMap<string, readonly Holder[]> {
  const holders = new Map<string, Holder[]>()
  for (const [file, components] of byFile) {
    for (const loaded of components) {
      const { name } = loaded.component
      const others = holders.get(name) ?? []
      const running = before?.components.get(name)
      const isRunning = running !== undefined && before?.byFile.get(file)?.includes(running)
      holders.set(name, isRunning ? [{ file, loaded }, ...others] : [...others, { file, loaded }])
    }
  }
  return holders
}

/** Where texts for the user are gathered. */
interface Told {
  readonly faults: string[]
  readonly notes: string[]
}

type SourcesOf = ReadComponentsOptions['sourcesOf']

/**
 * Where references lead: to the store that the component names, and to what `--secrets` gives, which comes first. To the only store where it names
 * none. Where a store can't be read, no secret of it can be judged.
 */
function secretSources(
  outlines: readonly ComponentOutline[],
  { env, fill, secrets }: LoadOptions,
  { faults, notes }: Told,
): SourcesOf {
  const { byStore, ...told } = readSecretStores(outlines, env)
  faults.push(...told.faults)
  notes.push(...told.notes)
  let given: Secrets | undefined
  try {
    given = secrets()
  } catch (error) {
    if (!(error instanceof SecretStoreError)) throw error
    faults.push(`--secrets: ${error.message}`)
  }
  const names = [...byStore.keys()]
  const only = names.length === 1 ? names[0] : undefined
  const storeOf = (store = only) => (store !== undefined && byStore.has(store) ? byStore.get(store) : {})
  const trouble = (store: string | undefined) => {
    if (store !== undefined) return byStore.has(store) ? '' : `there is no secret store ${quote(store)}; `
    return names.length > 1
      ? `the component names none of the secret stores: write auth: { secretStore: ${names[0]} }; or `
      : ''
  }
  return (named) => {
    const store = named || undefined
    const inStore = storeOf(store)
    return {
      env,
      fill,
      secrets: inStore && given && { ...inStore, ...given },
      advice: (shape) =>
        `${trouble(store)}put ${shape} into a JSON file, and name that by --secrets FILE or in a secretstores.local.file component`,
    }
  }
}

const mostListed = 50

interface LoadContext {
  readonly appId: string
  /** The applications that each component of the file is for, by the component's name. */
  readonly scopes: ReadonlyMap<string, readonly string[]>
  readonly sourcesOf: SourcesOf
}

/** `undefined` where the file is broken, or needs secrets that can't be read. */
function loadFile(
  file: string,
  text: string | Error,
  { appId, scopes, sourcesOf }: LoadContext,
  { faults, notes }: Told,
): readonly LoadedComponent[] | undefined {
  if (text instanceof Error) {
    faults.push(`${file} can't be read: ${text.message}`)
    return undefined
  }
  const read = readComponents(text, file, { sourcesOf })
  notes.push(...read.leftOut.map((one) => one.text))
  const ours = read.components.filter(({ component: { name, type } }) => {
    const forApps = scopes.get(name) ?? []
    if (forApps.length > 0 && !forApps.includes(appId)) {
      const notUs = appId === '' ? 'and there is no --app-id' : `not for ${appId}`
      notes.push(`${file}: component ${name} is for ${forApps.join(', ')}, ${notUs}: left out`)
      return false
    }
    if (!isOurType(type) && !isSecretStore(type)) {
      const meant = typeMeantBy(type)
      const more = meant === undefined ? '' : `; did you mean ${meant}?`
      notes.push(`${file}: component ${name} is a ${type}, which is not ours: left out${more}`)
    }
    return isOurType(type)
  })
  const judged = ours.map(judge)
  const issues = [...read.issues, ...judged.flatMap((one) => one.issues)]
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
