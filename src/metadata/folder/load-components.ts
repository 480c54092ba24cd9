/** The components of files, with every fault of all of them; previous components kept for a broken file. */
import type { MetadataIssue } from '../../core/errors.ts'
import type { ComponentFile, ComponentFiles } from '../component/component-file.ts'
import { byPlace, describeIssue, describeIssues } from '../typed/metadata-invalid.ts'
import { doubledName, findHolders, type Holders } from './holders.ts'
import { createPlaceholders } from './placeholders.ts'
import { createSecretSources, type SecretOptions, type SecretStores } from './secret-sources.ts'
import {
  type FileContents,
  isTaken,
  type LoadedComponent,
  type Selection,
  type TakeOptions,
  takeComponents,
} from './take-components.ts'

export interface Loaded extends SecretStores {
  /** By name, with the previous components of a broken file. */
  readonly components: ReadonlyMap<string, LoadedComponent>
  readonly holders: Holders<LoadedComponent>
  /** The components of each file; of a broken file the previous ones. */
  readonly byFile: ReadonlyMap<string, readonly LoadedComponent[]>
  /** What each file holds, valid or not; or why it can't be read. */
  readonly files: ReadonlyMap<string, LoadedFile | Error>
  /** The faults of secret stores alone. */
  readonly storeIssues: readonly MetadataIssue[]
  /** Every fault: those of secret stores, those of each file in the order of their places, doubled names. */
  readonly issues: readonly MetadataIssue[]
  /** The same in words: a text for each broken file, and for each other fault. */
  readonly faults: readonly string[]
  /** A text for everything that is left out. */
  readonly notes: readonly string[]
}

export type LoadedFile = FileContents & Pick<ComponentFile, 'excerpt' | 'isBroken'>

export interface LoadOptions extends Omit<TakeOptions, 'secretOf' | 'fill'>, Omit<SecretOptions, 'fill'> {
  /** For `{namespace}`. @default NAMESPACE of the environment, else `default` */
  readonly namespace?: string | undefined
  /** The previous result: a broken file keeps its previous components. */
  readonly before?: Loaded | undefined
  /**
   * Columns of the excerpt of the file below each fault: the line and a caret, secret values masked and comments left out.
   * @default no excerpts
   */
  readonly excerptWidth?: number | undefined
}

export function loadFiles(files: ComponentFiles, given: LoadOptions): Loaded {
  const { before, words, excerptWidth } = given
  const options = { ...given, fill: createPlaceholders({ ...given, needsAppId: words.appId }) }
  const drafts = takenDrafts(files, options)
  const { secretOf, issues: storeIssues, notes, ...stores } = createSecretSources(files, drafts, options)
  const issues = [...storeIssues]
  const faults = storeIssues.map(describeIssue)
  const contents = new Map<string, LoadedFile | Error>()
  const byFile = new Map<string, readonly LoadedComponent[]>()
  function report(found: readonly MetadataIssue[], excerpt?: ComponentFile['excerpt']): void {
    if (found.length === 0) return
    issues.push(...found)
    const isShown = excerpt !== undefined && excerptWidth !== undefined
    faults.push(describeIssues(found, isShown ? (at) => excerpt(at, excerptWidth) : undefined).join('\n'))
  }
  for (const [file, read] of files) {
    const previous = before?.byFile.get(file) ?? []
    byFile.set(file, previous)
    if (read instanceof Error) {
      contents.set(file, read)
      report([{ kind: 'unreadable', rule: `${file} can't be read: ${read.message}` }])
      continue
    }
    const one = takeComponents(file, read, { ...options, secretOf })
    contents.set(file, { ...one, excerpt: read.excerpt, isBroken: read.isBroken })
    notes.push(...one.notes)
    // The file has components that run, or secret stores of theirs: a typo, or a file that was cut off, must not take them away.
    const isRunning = previous.length > 0 || (before?.storesByFile.get(file) ?? []).length > 0
    if (isRunning) for (const mistake of one.mistakes) report([mistake])
    else notes.push(...one.mistakes.map(describeIssue))
    const found = [...one.issues, ...one.taken.flatMap((each) => [...each.issues, ...each.faults])].toSorted(byPlace)
    report(found, read.excerpt)
    const loaded = one.taken.flatMap((each) => each.loaded ?? [])
    const isWhole = found.length === 0 && loaded.length === one.taken.length
    if (isWhole && !(isRunning && one.mistakes.length > 0)) byFile.set(file, loaded)
  }
  const claims = [...byFile].flatMap(([file, all]) => all.map((item) => ({ name: item.component.name, file, item })))
  const { holders, doubled } = findHolders(claims, before?.holders)
  for (const { name, owner, item } of doubled)
    report([doubledName('component', name, owner, item.component.places.name)])
  return {
    components: new Map([...holders].map(([name, { item }]) => [name, item])),
    ...stores,
    holders,
    byFile,
    files: contents,
    storeIssues,
    issues,
    faults,
    notes,
  }
}

/** The components whose references are resolved. */
export const takenDrafts = (files: ComponentFiles, selection: Selection) =>
  [...files.values()].flatMap((read) =>
    read instanceof Error ? [] : read.drafts.filter((draft) => isTaken(draft, selection)),
  )
