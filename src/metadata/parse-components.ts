import type { MetadataIssue } from '../errors.ts'
import { apiVersionRule, componentVersion, isApiVersion } from './component-definition.ts'
import {
  type ComponentProperties,
  type Fault,
  type ReferenceSources,
  readComponentProperties,
} from './component-properties.ts'
import { isRecord } from './is-record.ts'
import { metadataInvalid } from './metadata-invalid.ts'
import { notePositions } from './positions.ts'
import { readYaml, type YamlDocument } from './read-yaml.ts'
import { quote } from './redact.ts'
import type { Secrets } from './resolve-reference.ts'

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
  /** Values by name, each as text or as a `Secret`. */
  readonly properties: ComponentProperties
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

function readComponent(
  document: YamlDocument,
  fault: Fault,
  sources: ReferenceSources,
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
  const properties = readComponentProperties(isRecord(value.spec) ? value.spec.metadata : undefined, {
    type,
    fault,
    at,
    sources,
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
