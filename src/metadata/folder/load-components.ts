// A folder's valid components and faults; previous ones kept for a broken file.
import { hash } from 'node:crypto'
import type { MetadataIssue } from '../../core/errors.ts'
import { type FilePlace, placeInWords } from '../../core/file-place.ts'
import { Secret } from '../../core/secret.ts'
import { nearestName } from '../../support/text/nearest-name.ts'
import { quote } from '../../support/text/text.ts'
import { checkVersion, componentTypes, isOurType } from '../component/component-definition.ts'
import { type ComponentFile, isCutOff, isForApp, readComponentFiles } from '../component/component-file.ts'
import type { FolderTexts } from '../component/component-folder.ts'
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
    const isRunning = previous.length > 0 || (before?.storesByFile.get(file) ?? []).length > 0
    const loaded = loadFile(file, read, { ...options, sourcesOf, isRunning }, diagnostics)
    byFile.set(file, loaded ?? previous)
  }
  const claims = [...byFile].flatMap(([file, all]) => all.map((held) => ({ name: held.component.name, file, held })))
  const holders = findHolders('component', claims, before?.holders, diagnostics.faults)
  const components = new Map([...holders].map(([name, { held }]) => [name, held]))
  return { components, holders, byFile, ...secrets, ...diagnostics }
}

interface LoadContext extends Pick<LoadOptions, 'appId' | 'excerptWidth'>, Pick<ResolveOptions, 'sourcesOf'> {
  /** The file has components that run, or secret stores of theirs: a typo, or a file that was cut off, must not take them away. */
  readonly isRunning: boolean
}

/** `undefined` where the file is broken, or needs secrets that can't be read. */
function loadFile(
  file: string,
  read: ComponentFile | Error,
  { excerptWidth, isRunning, ...options }: LoadContext,
  { faults, notes }: Diagnostics,
): readonly LoadedComponent[] | undefined {
  if (read instanceof Error) {
    faults.push(`${file} can't be read: ${read.message}`)
    return undefined
  }
  const { ours, mistakes, ...judged } = judgeFile(file, read, options)
  notes.push(...judged.notes)
  if (isRunning) faults.push(...mistakes)
  else notes.push(...mistakes)
  const issues = [...judged.issues, ...ours.flatMap((one) => [...one.issues, ...one.faults])]
  if (issues.length > 0) {
    const excerptOf = excerptWidth === undefined ? () => undefined : (at: FilePlace) => read.excerpt(at, excerptWidth)
    faults.push(describeIssues(issues.toSorted(byPlace), excerptOf).join('\n'))
  }
  const loaded = ours.flatMap((one) => one.loaded ?? [])
  const isBroken = issues.length > 0 || loaded.length < ours.length || (isRunning && mistakes.length > 0)
  return isBroken ? undefined : loaded
}

/** A component of ours, judged. */
export interface JudgedComponent extends ResolvedComponent {
  /** The faults of its metadata; those of reading it are its `issues`. */
  readonly faults: readonly MetadataIssue[]
  /** Absent where its metadata has faults, or a secret could not be read. */
  readonly loaded?: LoadedComponent
}

/**
 * What a file holds: our components, and what is said of the rest. Without `appId` it takes the components of all applications, and
 * leaves out the faults of secret stores: nobody knows which application uses them.
 */
export function judgeFile(
  file: string,
  read: ComponentFile,
  options: ResolveOptions & Pick<ParseMetadataOptions, 'provisioning'>,
) {
  const { appId } = options
  const { components, issues } = resolveComponents(read, options)
  const mistakes: string[] = []
  const notes: string[] = []
  for (const { text, isMistake } of read.leftOut) (isMistake ? mistakes : notes).push(text)
  const taken = components.filter(({ component: { name, type }, draft }) => {
    if (appId !== undefined && !isForApp(draft, appId)) {
      const notUs = appId === '' ? 'and there is no --app-id' : `not for ${appId}`
      notes.push(`${file}: component ${name} is for ${draft.scopes.join(', ')}, ${notUs}: left out`)
      return false
    }
    if (isOurType(type) || isSecretStore(type)) return true
    // Only few edits count, because other bindings have similar names, such as `bindings.azure.eventhubs`.
    const meant =
      nearestName(type, componentTypes, { maxEdits: 3 }) ?? componentTypes.find((ours) => isCutOff(type, ours))
    if (meant === undefined) notes.push(`${file}: component ${name} is a ${type}, which is not ours: left out`)
    else {
      const at = placeInWords(draft.places.type)
      mistakes.push(`${at}: component ${quote(name)} has the unknown type ${quote(type)}; did you mean ${meant}?`)
    }
    return false
  })
  const ours = taken.filter(({ component }) => isOurType(component.type))
  const stores = appId === undefined ? [] : taken.filter((one) => !ours.includes(one))
  const others = new Set(components.filter((one) => !stores.includes(one)).flatMap((one) => one.issues))
  return {
    ours: ours.map((one): JudgedComponent => ({ ...one, ...judgeComponent(one, options) })),
    /** The faults of the file itself, and of its secret stores. */
    issues: issues.filter((issue) => !others.has(issue)),
    /** A text for each document whose kind or type is nearly one of ours, and for a file without documents. */
    mistakes,
    /** A text for everything else that is left out. */
    notes,
  }
}

function judgeComponent(
  { component, entries, draft }: ResolvedComponent,
  { provisioning }: Pick<ParseMetadataOptions, 'provisioning'>,
): Pick<JudgedComponent, 'faults' | 'loaded'> {
  const { name, type, version, properties } = component
  const reading = readMetadata(entries, { componentName: name, ...(provisioning && { provisioning }) })
  const faults = reading.issues.map((issue) => ({ at: draft.places.metadata, ...issue }))
  checkVersion('version', version, faults, draft.places.version)
  if (faults.length > 0 || !reading.metadata) return { faults }
  const texts = Object.entries(properties).map(
    ([key, value]) => [key, value instanceof Secret ? value.reveal() : value] as const,
  )
  const fingerprintOf = (values: unknown) => hash('sha256', JSON.stringify([type, version, values]))
  const ofInput = texts.filter(([key]) => findField(key)?.sides.includes('input') !== false)
  const fingerprints = { fingerprint: fingerprintOf(texts), inputFingerprint: fingerprintOf(ofInput) }
  return { loaded: { component, metadata: reading.metadata, ...fingerprints }, faults }
}
