/** The components of files: which are taken, those without a fault, every fault of all of them, and what is said of the rest. */
import { hash } from 'node:crypto'
import type { Component, FilePlace, Side } from '../../core/component.ts'
import type { MetadataIssue } from '../../core/errors.ts'
import { Secret } from '../../core/secret.ts'
import { nearestName } from '../../support/text/nearest-name.ts'
import { quote } from '../../support/text/text.ts'
import { checkVersion, componentTypes, isTypeOf } from '../component/component-definition.ts'
import {
  type ComponentDraft,
  type ComponentFile,
  type ComponentFiles,
  isCutOff,
  isForApp,
  readComponentFile,
} from '../component/component-file.ts'
import { type PathsRead, unreadablePath } from '../component/component-folder.ts'
import { createPlaceholders, type ReferenceSources, resolveEntries } from '../component/component-properties.ts'
import { byPlace, describeIssue, describeIssues } from '../fields/faults.ts'
import type { ParsedMetadata } from '../typed/metadata.ts'
import { type ParseMetadataOptions, readMetadata } from '../typed/parse-metadata.ts'
import type { PropertyEntry } from '../typed/read-properties.ts'
import { isSecretStore } from './secret-stores.ts'
import { createSecretSources, doubledName, type SecretOptions } from './secrets.ts'

export interface Loaded {
  /** The components without a fault, by name. */
  readonly components: ReadonlyMap<string, LoadedComponent>
  /** The components with a fault that say `ignoreErrors`, by name: their faults in words, a line each. */
  readonly leftOut: ReadonlyMap<string, string>
  /** What each file holds, valid or not; or why the file can't be read. */
  readonly files: ReadonlyMap<string, LoadedFile | Error>
  /** The faults of secret stores alone. */
  readonly storeIssues: readonly MetadataIssue[]
  /** Every fault but those of `leftOut`: those of paths, of secret stores, of each file in the order of their places. */
  readonly issues: readonly MetadataIssue[]
  /** A text for each document whose kind or type is nearly one that is taken, and for each file without a document. */
  readonly mistakes: readonly string[]
  /** A text for everything else that is left out. */
  readonly notes: readonly string[]
}

/** What a file holds. */
export interface LoadedFile extends Pick<ComponentFile, 'excerpt'> {
  readonly taken: readonly TakenComponent[]
  /** The faults of the file itself, and of its secret stores. */
  readonly issues: readonly MetadataIssue[]
  /** Each document whose kind or type is nearly one that is taken, and a file without documents. */
  readonly mistakes: readonly MetadataIssue[]
  /** A text for everything else that is left out. */
  readonly notes: readonly string[]
  /** The notes about components with `scopes`, where the application has no id. */
  readonly unclaimed: readonly string[]
}

/** A component that is taken, valid or not. */
export interface TakenComponent {
  /** A component. Complete where there are no issues. */
  readonly component: Component
  /** The faults of the document, of its references and of its metadata. */
  readonly issues: readonly MetadataIssue[]
  /** Absent where there are faults, or a secret could not be read. */
  readonly loaded?: LoadedComponent
}

/** A component that can be run: its metadata is valid. */
export interface LoadedComponent {
  readonly component: Component
  /** Empty for another vendor's type, which is not ours to judge. */
  readonly metadata: ParsedMetadata
  /** A hash of type, version, file and values: equal for components that are equal and in the same file. */
  readonly fingerprint: string
}

/** Which components are taken. */
interface Selection {
  readonly types: readonly string[]
  /** A component whose `scopes` do not name it is left out. @default all are taken */
  readonly appId?: string | undefined
}

export interface LoadOptions
  extends Selection,
    Omit<SecretOptions, 'fill'>,
    Pick<ParseMetadataOptions, 'provisioning'> {
  /** For `{namespace}`. @default NAMESPACE of the environment, else `default` */
  readonly namespace?: string | undefined
  /**
   * For the library: `handshakePort` may be 0, and the host may pass a credential to the binding. So missing credential fields are a fault
   * only where the component has another fault as well. @default false
   */
  readonly forLibrary?: boolean
}

export const readComponentFiles = ({ texts }: Pick<PathsRead, 'texts'>): ComponentFiles =>
  new Map([...texts].map(([file, text]) => [file, text instanceof Error ? text : readComponentFile(text, file)]))

/** @param read what was found at the paths, beside the files */
export function loadFiles(files: ComponentFiles, given: LoadOptions, read: Partial<PathsRead> = {}): Loaded {
  const options = { ...given, fill: createPlaceholders({ ...given, needsAppId: given.words.appId }) }
  const drafts = takenDrafts(files, options)
  const { secretOf, issues: storeIssues, notes: storeNotes } = createSecretSources(files, drafts, options)
  const issues = [...(read.issues ?? []), ...storeIssues]
  const mistakes: string[] = []
  const notes = [...(read.notes ?? []), ...storeNotes]
  const contents = new Map<string, LoadedFile | Error>()
  const components = new Map<string, LoadedComponent>()
  const leftOut = new Map<string, string>()
  const owners = new Map<string, FilePlace>()
  for (const [file, found] of files) {
    if (found instanceof Error) {
      contents.set(file, found)
      issues.push(unreadablePath(file, found))
      continue
    }
    const content = takeComponents(file, found, { ...options, secretOf })
    contents.set(file, content)
    mistakes.push(...content.mistakes.map(describeIssue))
    notes.push(...content.notes)
    const here = [...content.issues]
    for (const { component, loaded, issues: own } of content.taken) {
      const { name, places, ignoreErrors } = component
      const owner = owners.get(name)
      if (owner === undefined) owners.set(name, places.name)
      if (owner !== undefined) here.push(doubledName('component', name, owner, places.name), ...own)
      else if (loaded) components.set(name, loaded)
      else if (ignoreErrors && own.length > 0) leftOut.set(name, describeIssues(own.toSorted(byPlace)).join('\n'))
      else here.push(...own)
    }
    issues.push(...here.sort(byPlace))
  }
  return { components, leftOut, files: contents, storeIssues, issues, mistakes, notes }
}

/** The components whose references are resolved. */
export const takenDrafts = (files: ComponentFiles, selection: Selection) =>
  [...files.values()].flatMap((read) =>
    read instanceof Error ? [] : read.drafts.filter((draft) => isTaken(draft, selection)),
  )

const isTaken = (draft: ComponentDraft, { types, appId }: Selection): boolean =>
  draft.type !== undefined && isTypeOf(types, draft.type) && isForApp(draft, appId)

/** References are resolved in what is taken, and in nothing else. */
function takeComponents(file: string, read: ComponentFile, options: LoadOptions & ReferenceSources): LoadedFile {
  const { types, appId } = options
  const taken: TakenComponent[] = []
  const issues = [...read.issues]
  const mistakes = [...read.mistakes]
  const notes = read.leftOut.map(describeIssue)
  const unclaimed: string[] = []
  for (const draft of read.drafts) {
    const { name, type, scopes, places } = draft
    if (type === undefined) issues.push(...draft.issues)
    else if (!isForApp(draft, appId)) {
      const notUs = appId ? `not for ${appId}` : `and there is no application id (${options.words.appId})`
      const note = `${file}: component ${name} is for ${scopes.join(', ')}, ${notUs}: left out`
      notes.push(note)
      if (!appId) unclaimed.push(note)
    } else if (isTaken(draft, options)) {
      const one = takeComponent(draft, options)
      if (name === undefined) issues.push(...one.issues)
      else taken.push(one)
    } else if (isSecretStore(type)) issues.push(...draft.issues)
    else {
      // Only few edits count, because other bindings have similar names, such as `bindings.azure.eventhubs`.
      const meant = nearestName(type, types, { maxEdits: 3 }) ?? types.find((one) => isCutOff(type, one))
      if (meant === undefined) notes.push(`${file}: component ${name} is a ${type}, which is not ours: left out`)
      else {
        const rule = `component ${quote(name ?? '')} has the unknown type ${quote(type)}; did you mean ${meant}?`
        mistakes.push({ rule, at: places.type })
      }
    }
  }
  return { taken, issues, mistakes, notes, unclaimed, excerpt: read.excerpt }
}

function takeComponent(draft: ComponentDraft, options: LoadOptions & ReferenceSources): TakenComponent {
  const { name = '', type = '', version, secretStore, scopes, ignoreErrors, places } = draft
  const { entries, properties, issues: unresolved } = resolveEntries(draft, options)
  const isOurs = isTypeOf(componentTypes, type)
  const reading = isOurs ? readFields(entries, name, options) : ofAnother(entries)
  const issues = [...draft.issues, ...unresolved, ...reading.issues.map((issue) => ({ at: places.metadata, ...issue }))]
  if (isOurs) checkVersion('version', version, issues, places.version)
  const port = reading.metadata?.push?.handshakePort
  const component: Component = {
    name,
    type,
    version,
    properties,
    ...(secretStore !== undefined && { secretStore }),
    ...(scopes.length > 0 && { scopes }),
    ignoreErrors,
    sides: bothSides.filter((side) => reading.sides.has(side)),
    ...(port !== undefined && { port }),
    places: {
      name: places.name,
      type: places.type,
      version: places.version,
      properties: Object.fromEntries(entries.map((entry) => [entry.name, entry.at])),
    },
  }
  const { metadata } = reading
  if (issues.length > 0 || !metadata) return { component, issues }
  return { component, issues, loaded: { component, metadata, fingerprint: fingerprintOf(component) } }
}

function readFields(entries: readonly PropertyEntry[], componentName: string, options: LoadOptions) {
  const { provisioning, forLibrary = false } = options
  const given = { componentName, allowAnyPort: forLibrary, ...(provisioning && { provisioning }) }
  const reading = readMetadata(entries, given)
  if (reading.issues.length === 0 || !forLibrary) return reading
  const withCredential = readMetadata(entries, { ...given, credentialGiven: true })
  return withCredential.issues.length === 0 ? withCredential : reading
}

const bothSides: readonly Side[] = ['input', 'output']

/** Nothing is known of another vendor's metadata but `direction`, which is Dapr's own. */
function ofAnother(entries: readonly PropertyEntry[]): ReturnType<typeof readMetadata> {
  const { value } = entries.find(({ name }) => name.toLowerCase() === 'direction') ?? {}
  const text = value instanceof Secret ? value.reveal() : value
  const said = typeof text === 'string' ? text.split(',').map((word) => word.trim().toLowerCase()) : []
  const sides = bothSides.filter((side) => said.includes(side))
  const metadata = { push: undefined, pull: undefined, output: undefined, direction: undefined, warnings: [] }
  return { sides: new Set(sides.length > 0 ? sides : bothSides), metadata, issues: [] }
}

function fingerprintOf({ type, version, properties, places }: Component) {
  const texts = Object.entries(properties).map(
    ([key, value]) => [key, value instanceof Secret ? value.reveal() : value] as const,
  )
  return hash('sha256', JSON.stringify([type, version, places.type.file, texts]))
}
