// A folder's valid components and faults; previous ones kept for a broken file.
import { hash } from 'node:crypto'
import type { MetadataIssue } from '../../core/errors.ts'
import { type FilePlace, placeInWords } from '../../core/file-place.ts'
import { Secret } from '../../core/secret.ts'
import { nearestName } from '../../support/text/nearest-name.ts'
import { quote } from '../../support/text/text.ts'
import { checkVersion, componentTypes, isOurType } from '../component/component-definition.ts'
import { type ComponentFile, isForApp, readComponentFiles } from '../component/component-file.ts'
import {
  type Component,
  type ResolvedComponent,
  type ResolveOptions,
  resolveComponents,
} from '../component/parse-components.ts'
import { findField } from '../fields/find-field.ts'
import type { ParsedMetadata } from '../typed/metadata.ts'
import { byPlace, describeIssues } from '../typed/metadata-invalid.ts'
import { type ParseMetadataOptions, readMetadata } from '../typed/parse-metadata.ts'
import type { FolderTexts } from './component-folder.ts'
import { findHolders, type Holders } from './holders.ts'
import {
  createSecretSources,
  type Diagnostics,
  isSecretStore,
  type SecretOptions,
  type SecretStores,
} from './secret-stores.ts'

/** A component that can be run: its metadata is valid. */
export interface LoadedComponent {
  readonly component: Component
  readonly metadata: ParsedMetadata
  /** A hash of type, version and values: equal for components that are equal. */
  readonly fingerprint: string
  /** The same without the fields that the output side alone reads. */
  readonly inputFingerprint: string
}

export interface Loaded extends SecretStores {
  /** By name, with the previous components of a broken file. */
  readonly components: ReadonlyMap<string, LoadedComponent>
  readonly holders: Holders<LoadedComponent>
  /** The components of each file; of a broken file the previous ones. */
  readonly byFile: ReadonlyMap<string, readonly LoadedComponent[]>
  /** A text for each broken file. */
  readonly faults: readonly string[]
  readonly notes: readonly string[]
}

export interface LoadOptions extends SecretOptions {
  /** The previous result: a broken file keeps its previous components. */
  readonly before?: Loaded | undefined
  /**
   * Columns of the excerpt of the file below each fault: the line and a caret, secret values masked and comments left out.
   * @default no excerpts
   */
  readonly excerptWidth?: number | undefined
}

/** Reads the components of a folder's files, resolves references and validates metadata. Reports all faults at once. */
export function loadComponents(texts: FolderTexts, options: LoadOptions): Loaded {
  const diagnostics: Diagnostics = { faults: [], notes: [] }
  const { before } = options
  const files = readComponentFiles(texts)
  const { sourcesOf, ...secrets } = createSecretSources(files, options, diagnostics)
  const byFile = new Map<string, readonly LoadedComponent[]>()
  for (const [file, read] of files) {
    const previous = before?.byFile.get(file) ?? []
    const loaded = loadFile(file, read, { ...options, sourcesOf, isRunning: previous.length > 0 }, diagnostics)
    byFile.set(file, loaded ?? previous)
  }
  const claims = [...byFile].flatMap(([file, all]) => all.map((held) => ({ name: held.component.name, file, held })))
  const holders = findHolders('component', claims, before?.holders, diagnostics.faults)
  const components = new Map([...holders].map(([name, { held }]) => [name, held]))
  return { components, holders, byFile, ...secrets, ...diagnostics }
}

interface LoadContext extends Pick<LoadOptions, 'appId' | 'excerptWidth'>, Pick<ResolveOptions, 'sourcesOf'> {
  /** The file has components that run: a typo must not take them away. */
  readonly isRunning: boolean
}

/** `undefined` where the file is broken, or needs secrets that can't be read. */
function loadFile(
  file: string,
  read: ComponentFile | Error,
  { appId, excerptWidth, sourcesOf, isRunning }: LoadContext,
  { faults, notes }: Diagnostics,
): readonly LoadedComponent[] | undefined {
  if (read instanceof Error) {
    faults.push(`${file} can't be read: ${read.message}`)
    return undefined
  }
  const { components, issues } = resolveComponents(read, { sourcesOf, appId })
  const typos: string[] = []
  for (const { text, isTypo } of read.leftOut) (isTypo ? typos : notes).push(text)
  const taken = components.filter((one) => {
    const { component, draft } = one
    const { name, type } = component
    if (!isForApp(draft, appId)) {
      const notUs = appId === '' ? 'and there is no --app-id' : `not for ${appId}`
      notes.push(`${file}: component ${name} is for ${draft.scopes.join(', ')}, ${notUs}: left out`)
      return false
    }
    if (isOurType(type) || isSecretStore(type)) return true
    const typo = typoInType(one)
    if (typo === undefined) notes.push(`${file}: component ${name} is a ${type}, which is not ours: left out`)
    else typos.push(typo)
    return false
  })
  if (isRunning) faults.push(...typos)
  else notes.push(...typos)
  const judged = taken.filter(({ component }) => isOurType(component.type)).map((one) => judgeComponents(one))
  // The faults of a component that is left out do not matter.
  const others = new Set(components.filter((one) => !taken.includes(one)).flatMap((one) => one.issues))
  const own = [...issues.filter((issue) => !others.has(issue)), ...judged.flatMap((one) => one.issues)]
  if (own.length > 0) {
    const excerptOf = excerptWidth === undefined ? () => undefined : (at: FilePlace) => read.excerpt(at, excerptWidth)
    faults.push(describeIssues(own.toSorted(byPlace), excerptOf).join('\n'))
  }
  const loaded = judged.flatMap((one) => one.loaded ?? [])
  const isBroken = own.length > 0 || loaded.length < judged.length || (isRunning && typos.length > 0)
  return isBroken ? undefined : loaded
}

/** A text about a type that is nearly one of ours. */
export function typoInType({ component: { name, type }, draft }: ResolvedComponent): string | undefined {
  if (isOurType(type) || isSecretStore(type)) return undefined
  // Only few edits count, because other bindings have similar names, such as `bindings.azure.eventhubs`.
  const meant = nearestName(type, componentTypes, { maxEdits: 3 })
  if (meant === undefined) return undefined
  return `${placeInWords(draft.places.type)}: component ${quote(name)} has the unknown type ${quote(type)}; did you mean ${meant}?`
}

/** A component with its metadata, or with its issues; with neither where a secret could not be read. */
export function judgeComponents(
  { component, entries, draft }: ResolvedComponent,
  options: Pick<ParseMetadataOptions, 'provisioning'> = {},
): {
  readonly loaded?: LoadedComponent
  readonly issues: readonly MetadataIssue[]
} {
  const { name, type, version, properties } = component
  const reading = readMetadata(entries, { ...options, componentName: name })
  const issues = reading.issues.map((issue) => ({ at: draft.places.metadata, ...issue }))
  checkVersion('version', version, issues, draft.places.version)
  if (issues.length > 0 || !reading.metadata) return { issues }
  const texts = Object.entries(properties).map(
    ([key, value]) => [key, value instanceof Secret ? value.reveal() : value] as const,
  )
  const fingerprintOf = (values: unknown) => hash('sha256', JSON.stringify([type, version, values]))
  const ofInput = texts.filter(([key]) => findField(key)?.sides.includes('input') !== false)
  const fingerprints = { fingerprint: fingerprintOf(texts), inputFingerprint: fingerprintOf(ofInput) }
  return { loaded: { component, metadata: reading.metadata, ...fingerprints }, issues }
}
