import type { MetadataIssue } from '../core/errors.ts'
import { type Logger, silentLogger } from '../core/logger.ts'
import { isRecord } from '../support/is-record.ts'
import { nearestName } from '../support/nearest-name.ts'
import { checkLogger, checkValues, mustBe, type OptionCheck } from '../support/option-checks.ts'
import { quote } from '../support/text.ts'
import { apiVersionRule, componentVersion, isApiVersion } from './component-definition.ts'
import {
  type ComponentProperties,
  type Fault,
  type ReferenceSources,
  readComponentProperties,
} from './component-properties.ts'
import { metadataInvalid } from './metadata-invalid.ts'
import { isForApp } from './outline-components.ts'
import { notePositions } from './positions.ts'
import { readYaml, type YamlDocument } from './read-yaml.ts'
import type { Secrets } from './resolve-reference.ts'

/** What {@link parseComponents} takes from around the text. */
export interface ParseComponentsOptions {
  /** The file's name, for errors. @default '<text>' */
  readonly file?: string
  /** What `envRef` refers to. @default process.env */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** What `secretKeyRef` refers to. @default none */
  readonly secrets?: Secrets
  /**
   * Told of documents of another kind, which are left out, and of keys around `spec.metadata` that Dapr would leave out
   * too: as a warning where another word was probably meant. @default nobody
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
}

/**
 * The components of a YAML text (specification, section 2.1), references resolved. It may hold several documents; those
 * of another `kind` are left out, as are empty ones.
 *
 * @throws BindingError METADATA_INVALID whose `issues` hold every fault with file, line and column
 * @throws TypeError for what is no text, and for an option that is none or has a value that it can't have
 */
export function parseComponents(yamlText: string, options: ParseComponentsOptions = {}): readonly Component[] {
  if (typeof yamlText !== 'string') throw new TypeError('the YAML must be a text, not the bytes of a file')
  checkValues('the options of parseComponents', options, componentsOptions)
  const { file = '<text>', env = process.env, secrets = {}, logger = silentLogger } = options
  const { components, issues, leftOut } = readComponents(yamlText, file, { sourcesOf: () => ({ env, secrets }) })
  for (const { text, isSlip } of leftOut) {
    if (isSlip) logger.warn(text)
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

/** A component of a text that may have faults elsewhere, or itself. */
export interface ReadComponent {
  /** Whole where the text has no faults. */
  readonly component: Component
  /** Its properties, and an unknown value for each that has a fault: enough to judge all else by. */
  readonly known: Readonly<Record<string, unknown>>
  /** The applications that it is for; empty: every one. */
  readonly scopes: readonly string[]
  /** Where its list of metadata stands. */
  readonly at: string
  /** What is wrong with it. */
  readonly issues: readonly MetadataIssue[]
}

/** All that a YAML text says, right or wrong. */
export interface ReadText {
  readonly components: readonly ReadComponent[]
  readonly issues: readonly MetadataIssue[]
  /** A text for each document of another kind, and for each key that was probably meant to be another. */
  readonly leftOut: readonly { readonly text: string; readonly isSlip: boolean }[]
}

/** How {@link readComponents} resolves references. */
export interface ReadComponentsOptions {
  /** What a component's references refer to, given the secret store that it names. */
  readonly sourcesOf: (secretStore: string | undefined) => ReferenceSources
  /** The application that it reads for: components of others may have the same names. @default it reads for all */
  readonly appId?: string
}

/** Reads a YAML text as {@link parseComponents} does, and throws for nothing. */
export function readComponents(yamlText: string, file: string, { sourcesOf, appId }: ReadComponentsOptions): ReadText {
  const issues: MetadataIssue[] = []
  const components: ReadComponent[] = []
  const leftOut: { text: string; isSlip: boolean }[] = []
  const names = new Set<string>()
  for (const document of readYaml(yamlText, file, issues)) {
    const own: MetadataIssue[] = []
    const fault: Fault = (path, issue) => void own.push({ ...issue, at: document.at(path) })
    if (isOfAnotherKind(document.value)) leftOut.push(leftOutOf(document.value.kind, document.at(['kind'])))
    else leftOut.push(...misspeltKeys(document))
    const read = readComponent(document, fault, sourcesOf, own)
    if (!read) {
      issues.push(...own)
      continue
    }
    const { name } = read.component
    const isOurs = appId === undefined || isForApp(read, appId)
    if (isOurs && names.has(name)) {
      fault(['metadata', 'name'], {
        field: 'metadata.name',
        value: quote(name),
        rule: 'is the name of an earlier component too',
      })
    }
    if (isOurs) names.add(name)
    issues.push(...own)
    components.push({ ...read, issues: own })
  }
  return { components, issues, leftOut }
}

function leftOutOf(kind: string, at: string): ReadText['leftOut'][number] {
  const isSlip = nearestName(kind, ['Component']) !== undefined
  return { isSlip, text: `${at}: kind ${quote(kind)} is left out${isSlip ? '; did you mean Component?' : ''}` }
}

/** The keys of a component document by the mapping that they stand in, as Dapr knows them (Component spec). */
const knownKeys = new Map<string | undefined, readonly string[]>([
  [undefined, ['apiVersion', 'kind', 'metadata', 'spec', 'auth', 'scopes']],
  ['metadata', ['name', 'namespace', 'labels', 'annotations']],
  ['spec', ['type', 'version', 'metadata', 'ignoreErrors', 'initTimeout']],
  ['auth', ['secretStore']],
])

/** Keys that are near to one of a component's, and none: Dapr passes over them in silence. */
function misspeltKeys({ value, at }: YamlDocument): ReadText['leftOut'] {
  if (!isRecord(value)) return []
  return [...knownKeys].flatMap(([part, known]) => {
    const holder = part === undefined ? value : value[part]
    const odd = isRecord(holder) ? Object.keys(holder).filter((key) => !known.includes(key)) : []
    return odd.flatMap((key) => {
      const meant = nearestName(key, known)
      const path = part === undefined ? [key] : [part, key]
      const text = `${at(path)}: key ${quote(path.join('.'))} is left out; did you mean ${meant}?`
      return meant === undefined ? [] : [{ text, isSlip: true }]
    })
  })
}

const isOfAnotherKind = (value: unknown): value is { readonly kind: string } =>
  isRecord(value) && typeof value.kind === 'string' && value.kind.trim().toLowerCase() !== 'component'

function readComponent(
  document: YamlDocument,
  fault: Fault,
  sourcesOf: ReadComponentsOptions['sourcesOf'],
  issues: MetadataIssue[],
): Omit<ReadComponent, 'issues'> | undefined {
  const { value, at } = document
  if (value === null || value === undefined) return undefined
  if (!isRecord(value)) {
    fault([], { rule: 'must be a mapping with apiVersion, kind, metadata and spec' })
    return undefined
  }
  if (isOfAnotherKind(value)) return undefined
  if (typeof value.kind !== 'string') {
    fault(['kind'], { field: 'kind', rule: 'must be a string', fix: 'write kind: Component' })
    return undefined
  }
  issues.push(...document.oddities)
  if (value.kind !== 'Component')
    fault(['kind'], { field: 'kind', value: quote(value.kind), rule: 'must be Component' })
  if (!isApiVersion(value.apiVersion)) {
    const given = typeof value.apiVersion === 'string' && { value: quote(value.apiVersion) }
    fault(['apiVersion'], { field: 'apiVersion', ...given, ...apiVersionRule })
  }
  const name = readText(value.metadata, ['metadata', 'name'], fault)
  const type = readText(value.spec, ['spec', 'type'], fault)
  const version = readVersion(value.spec, fault)
  const scopes = readScopes(value.scopes, fault)
  const secretStore = readSecretStore(value.auth, fault)
  const { sound: properties, known } = readComponentProperties(isRecord(value.spec) ? value.spec.metadata : undefined, {
    type,
    fault,
    at,
    sources: sourcesOf(secretStore),
  })
  if (name === undefined || type === undefined) return undefined
  const component = { name, type, version, properties }
  notePositions(
    component,
    new Map([
      ['type', at(['spec', 'type'])],
      ['version', at(['spec', 'version'])],
    ]),
  )
  return { component, known, scopes, at: at(['spec', 'metadata']) }
}

/** Taken for no list, a component for one application would be one for all. */
function readScopes(scopes: unknown, fault: Fault): readonly string[] {
  if (scopes === undefined || scopes === null) return []
  if (Array.isArray(scopes) && scopes.every((scope) => typeof scope === 'string')) return scopes
  fault(['scopes'], { field: 'scopes', rule: 'must be a list of application ids', fix: 'write scopes: [my-app]' })
  return []
}

function readSecretStore(auth: unknown, fault: Fault): string | undefined {
  const store = isRecord(auth) ? (auth.secretStore ?? undefined) : undefined
  if (typeof store === 'string') return store
  if (store !== undefined || !(isRecord(auth) || auth === undefined || auth === null))
    fault(['auth'], { field: 'auth', rule: 'must name a store as text', fix: 'write auth: { secretStore: my-store }' })
  return undefined
}

function readText(holder: unknown, path: readonly [string, string], fault: Fault): string | undefined {
  const value = isRecord(holder) ? holder[path[1]] : undefined
  if (typeof value === 'string' && value.trim() !== '' && value.length <= 256) return value
  fault(path, { field: path.join('.'), rule: 'must be a string of 1 to 256 characters' })
  return undefined
}

function readVersion(spec: unknown, fault: Fault): string {
  const version = (isRecord(spec) ? spec.version : undefined) ?? componentVersion
  if (typeof version === 'string') return version || componentVersion
  fault(['spec', 'version'], {
    field: 'spec.version',
    rule: 'must be a string',
    fix: `write version: ${componentVersion}`,
  })
  return componentVersion
}
