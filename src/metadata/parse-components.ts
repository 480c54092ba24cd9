import type { MetadataIssue } from '../errors.ts'
import { Secret } from '../secret.ts'
import { BrokenRule } from './broken-rule.ts'
import { apiVersionRule, componentVersion, isApiVersion, isOurType } from './component-definition.ts'
import { findField } from './fields.ts'
import { metadataInvalid } from './metadata-invalid.ts'
import { notePositions } from './positions.ts'
import { readYaml, type YamlDocument } from './read-yaml.ts'
import { isPrintable, quote } from './redact.ts'
import { resolveEnvRef, resolveSecretKeyRef, type Secrets } from './resolve-reference.ts'

export interface ParseComponentsOptions {
  /** The file's name, for errors. @default '<text>' */
  readonly file?: string
  /** What `envRef` refers to. @default process.env */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** What `secretKeyRef` refers to. @default none */
  readonly secrets?: Secrets
}

/** A component of a YAML text: `Binding.init` takes it. */
export interface Component {
  readonly name: string
  /** As written; components of other types than this binding's are returned too. */
  readonly type: string
  /** @default 'v1' */
  readonly version: string
  /**
   * Values by name. What may be printed is plain text. All else (secret fields, what a `secretKeyRef` gave, a URL with a query,
   * names that are no field of ours) is a `Secret`, whose `reveal()` gives the text. A number or boolean stays one, and is a fault
   * to `init`.
   */
  readonly properties: Readonly<Record<string, string | number | boolean | Secret>>
}

/**
 * The components of a YAML text (specification, section 2.1), references resolved. It may hold several documents; those of
 * another `kind` are left out, as are empty ones.
 *
 * @throws BindingError METADATA_INVALID whose `issues` hold every fault with file, line and column
 */
export function parseComponents(yamlText: string, options: ParseComponentsOptions = {}): readonly Component[] {
  const { file = '<text>', env = process.env, secrets = {} } = options
  const issues: MetadataIssue[] = []
  const components: Component[] = []
  const names = new Set<string>()
  for (const document of readYaml(yamlText, file, issues)) {
    const fault: Fault = (path, issue) => issues.push({ ...issue, at: document.at(path) })
    const component = readComponent(document, fault, { env, secrets }, issues)
    if (!component) continue
    if (names.has(component.name)) {
      fault(['metadata', 'name'], {
        field: 'metadata.name',
        value: quote(component.name),
        rule: 'is the name of an earlier component too',
      })
    }
    names.add(component.name)
    components.push(component)
  }
  if (issues.length > 0) throw metadataInvalid('the component YAML is not valid', issues)
  return components
}

type Path = readonly (string | number)[]
type Fault = (path: Path, issue: MetadataIssue) => void
type Sources = Required<Pick<ParseComponentsOptions, 'env' | 'secrets'>>

function readComponent(
  document: YamlDocument,
  fault: Fault,
  sources: Sources,
  issues: MetadataIssue[],
): Component | undefined {
  const { value, at } = document
  if (value === null || value === undefined) return undefined
  if (!isRecord(value)) {
    fault([], { rule: 'must be a mapping with apiVersion, kind, metadata and spec' })
    return undefined
  }
  if (typeof value.kind !== 'string' || value.kind.trim().toLowerCase() !== 'component') {
    if (typeof value.kind !== 'string')
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
  const properties = readEntries(isRecord(value.spec) ? value.spec.metadata : undefined, { type, fault, at, sources })
  if (name === undefined || type === undefined) return undefined
  const component = { name, type, version, properties }
  notePositions(
    component,
    new Map([
      ['type', at(['spec', 'type'])],
      ['version', at(['spec', 'version'])],
    ]),
  )
  return component
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

interface Surroundings {
  readonly type: string | undefined
  readonly fault: Fault
  readonly at: (path: Path) => string
  readonly sources: Sources
}

function readEntries(list: unknown, { type, fault, at, sources }: Surroundings): Component['properties'] {
  const entries = new Map<string, string | number | boolean | Secret>()
  const places = new Map<string, string>()
  const path = ['spec', 'metadata']
  if (list !== undefined && list !== null && !Array.isArray(list)) {
    fault(path, { field: 'spec.metadata', rule: 'must be a list of entries with name and value' })
  }
  for (const [index, entry] of Array.isArray(list) ? list.entries() : []) {
    const here = [...path, index]
    if (!isRecord(entry) || typeof entry.name !== 'string' || entry.name === '') {
      fault(here, { field: `spec.metadata[${index}]`, rule: 'must be an entry with a name and a value' })
      continue
    }
    const { name } = entry
    const valuePath = [...here, sourcesOfValue.find((key) => Object.hasOwn(entry, key)) ?? 'name']
    const report = (rule: string, fix?: string) =>
      fault(valuePath, { field: shortened(name), rule, ...(fix && { fix }) })
    if (entries.has(name))
      fault([...here, 'name'], { field: shortened(name), rule: 'is given twice', fix: 'keep one of them' })
    const value = readValue(entry, name, { isOurs: type !== undefined && isOurType(type), report, sources })
    if (value === undefined) continue
    entries.set(name, value)
    places.set(name, at(valuePath))
  }
  const properties = Object.fromEntries(entries)
  notePositions(properties, places)
  return properties
}

const sourcesOfValue = ['value', 'secretKeyRef', 'envRef'] as const

interface ValueContext {
  readonly isOurs: boolean
  readonly report: (rule: string, fix?: string) => void
  readonly sources: Sources
}

function readValue(entry: Fields, name: string, { isOurs, report, sources }: ValueContext) {
  const given = sourcesOfValue.filter((key) => Object.hasOwn(entry, key))
  const odd = Object.keys(entry).find((key) => key !== 'name' && !sourcesOfValue.some((known) => known === key))
  if (odd !== undefined)
    return report(`has the unknown key ${quote(odd)}`, `an entry has name and one of ${sourcesOfValue.join(', ')}`)
  if (given.length > 1) return report(`has ${given.join(' and ')}`, 'keep one of them')
  try {
    if (given[0] === 'secretKeyRef')
      return new Secret(resolveSecretKeyRef(readSecretKeyRef(entry.secretKeyRef), sources.secrets))
    if (given[0] === 'envRef') return printable(name, resolveEnvRef(readEnvRef(entry.envRef), sources.env))
  } catch (error) {
    if (!(error instanceof BrokenRule)) throw error
    return report(error.rule, error.fix)
  }
  const { value } = entry
  if (value === undefined || value === null) return ''
  if (typeof value === 'string') return printable(name, value)
  if (typeof value !== 'number' && typeof value !== 'boolean')
    return report('must be a string, not a list or a mapping')
  // As a number it would print, and as text it might not be what was written: 0123, 1e5.
  if (isOurs && findField(name)?.secret) return report('must be a string', 'put it in quotes')
  return value
}

const printable = (name: string, text: string) => (isPrintable(name, text) ? text : new Secret(text))

function readSecretKeyRef(reference: unknown): { name: string; key: string | undefined } {
  const { name, key } = isRecord(reference) ? reference : {}
  if (typeof name === 'string' && name !== '' && (key === undefined || typeof key === 'string')) return { name, key }
  throw new BrokenRule('must have a secretKeyRef with a name and a key', 'write secretKeyRef: { name: NAME, key: KEY }')
}

function readEnvRef(reference: unknown): string {
  if (typeof reference === 'string' && reference !== '') return reference
  throw new BrokenRule('must have an envRef that names a variable', 'write envRef: NAME')
}

type Fields = Readonly<Record<string, unknown>>

const isRecord = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const shortened = (name: string) => name.slice(0, 256)
