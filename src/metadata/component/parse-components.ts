// Public `parseComponents`: its options, result, places in the file, all faults thrown at once.
import type { MetadataIssue } from '../../core/errors.ts'
import type { FilePlace } from '../../core/file-place.ts'
import { type Logger, silentLogger } from '../../core/logger.ts'
import { checkLogger, checkValues, mustBe, type OptionCheck } from '../../support/process/option-checks.ts'
import { isRecord } from '../../support/text/is-record.ts'
import { quote } from '../../support/text/text.ts'
import { byPlace, metadataInvalid } from '../typed/metadata-invalid.ts'
import type { PropertyEntry } from '../typed/read-properties.ts'
import { type ComponentDraft, type ComponentFile, isForApp, readComponentFile } from './component-file.ts'
import {
  type ComponentProperties,
  type ReferenceSources,
  resolveEntries,
  type Secrets,
} from './component-properties.ts'

/** What {@link parseComponents} takes from around the text. */
export interface ParseComponentsOptions {
  /** The file's name, for errors. @default '<text>' */
  readonly file?: string
  /** What `envRef` refers to. @default process.env */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** What `secretKeyRef` refers to. @default none */
  readonly secrets?: Secrets
  /**
   * Gets a line for each document of another kind, which is left out: a warning where `Component` was probably meant, else debug;
   * and a warning where the text holds no document.
   * @default none
   */
  readonly logger?: Logger
}

/** A component of a YAML text: `Binding.init` takes it. */
export interface Component {
  readonly name: string
  /** As written; components of other types than this binding's are returned too. */
  readonly type: string
  /** @default 'v1' */
  readonly version: string
  /** Values by name, each as text or as a `Secret`. */
  readonly properties: ComponentProperties
  /** The places of the values in the file, which `init` names in its errors. */
  readonly places?: ComponentPlaces
}

/** Places in a YAML file. */
export interface ComponentPlaces {
  readonly type: FilePlace
  readonly version: FilePlace
  /** By the name of the property: the place of its value, or of the name itself if it is not a metadata field. */
  readonly properties: Readonly<Record<string, FilePlace>>
}

/**
 * The components of a YAML text, references resolved. It may hold several documents; those
 * of another `kind` are left out, as are empty ones.
 *
 * @throws BindingError METADATA_INVALID whose `issues` hold every fault with file, line and column; of syntax errors only the first
 * @throws TypeError for a value that is not text, for an unknown option or an invalid value
 */
export function parseComponents(yamlText: string, options: ParseComponentsOptions = {}): readonly Component[] {
  if (typeof yamlText !== 'string') throw new TypeError('the YAML must be a text, not the bytes of a file')
  checkValues('the options of parseComponents', options, componentsOptions)
  const { file = '<text>', env = process.env, secrets = {}, logger = silentLogger } = options
  const read = readComponentFile(yamlText, file)
  const { components, issues } = resolveComponents(read, { sourcesOf: () => ({ env, secrets }) })
  for (const { text, isMistake } of read.leftOut) {
    if (isMistake) logger.warn(text)
    else logger.debug(text)
  }
  if (issues.length > 0) throw metadataInvalid('the component YAML is not valid', issues)
  return components.map(({ component }) => component)
}

const componentsOptions: Readonly<Record<string, OptionCheck>> = {
  file: mustBe('a text', (value) => typeof value === 'string'),
  env: mustBe('an object', isRecord),
  secrets: mustBe('an object', isRecord),
  logger: checkLogger,
}

/** A component of a file, which may have faults. */
export interface ResolvedComponent {
  /** Complete where it has no issues. */
  readonly component: Component
  /** Its entries, an unknown value for each that has a fault. */
  readonly entries: readonly PropertyEntry[]
  readonly draft: ComponentDraft
  readonly issues: readonly MetadataIssue[]
}

export interface ResolveOptions {
  /** What a component's references refer to, given the secret store that it names. */
  readonly sourcesOf: (secretStore: string | undefined) => ReferenceSources
  /** The application whose components count: those of others may have the same names. @default all count */
  readonly appId?: string
}

/** The components of a file with their references resolved, and all issues of the file in the order of their places. */
export function resolveComponents(
  { drafts, issues }: ComponentFile,
  { sourcesOf, appId }: ResolveOptions,
): { readonly components: readonly ResolvedComponent[]; readonly issues: readonly MetadataIssue[] } {
  const all: MetadataIssue[] = [...issues]
  const components: ResolvedComponent[] = []
  const names = new Set<string>()
  for (const draft of drafts) {
    const { name, type, version, places } = draft
    const resolved = resolveEntries(draft, sourcesOf(draft.secretStore))
    const own = [...draft.issues, ...resolved.issues]
    if (name !== undefined && (appId === undefined || isForApp(draft, appId))) {
      const rule = 'is the name of an earlier component too'
      if (names.has(name)) own.push({ field: 'metadata.name', value: quote(name), rule, at: places.name })
      names.add(name)
    }
    all.push(...own)
    if (name === undefined || type === undefined) continue
    const properties = Object.fromEntries(resolved.entries.map((entry) => [entry.name, entry.at]))
    components.push({
      component: {
        ...{ name, type, version },
        properties: resolved.properties,
        places: { type: places.type, version: places.version, properties },
      },
      entries: resolved.entries,
      draft,
      issues: own,
    })
  }
  return { components, issues: all.toSorted(byPlace) }
}
