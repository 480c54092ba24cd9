/** What `init` accepts as a component: its kind, type and version. */

import { type FilePlace, readPlace } from '../../core/component.ts'
import type { MetadataIssue } from '../../core/errors.ts'
import type { YamlPath } from '../../support/files/located-yaml.ts'
import { isRecord, type UnknownRecord } from '../../support/text/json-text.ts'
import { didYouMean } from '../../support/text/nearest-name.ts'
import { quote } from '../../support/text/text.ts'
import { metadataInvalid } from '../fields/faults.ts'
import { findField } from '../fields/find-field.ts'
import type { MetadataProperties } from '../typed/read-properties.ts'

/** The types this component answers to, without regard to case: the specification's, and Dapr's name for it. */
export const componentTypes = ['bindings.cloud.eventrouter', 'bindings.azure.eventgrid'] as const

/** The component's version. */
export const componentVersion = 'v1'

export interface ComponentDefinition {
  readonly name: string | undefined
  readonly properties: MetadataProperties
}

/**
 * Reads what `init` is given: a component of `parseComponents`, a component's YAML document as any parser gives it
 * (`apiVersion`, `kind`, `metadata`, `spec`), `{ name, properties }` with properties a record or a `[{ name, value }]`
 * list, or a flat record of metadata fields. An absent version is `v1`; the type may be left out of the last two.
 *
 * @throws BindingError METADATA_INVALID for another type, version, `apiVersion` or `kind`, and for a value that is not a component
 */
export function readDefinition(input: unknown): ComponentDefinition {
  if (!isRecord(input) || input instanceof Promise) {
    throw metadataInvalid('this is not a component', [
      { value: kindOf(input), rule: 'must be a component', fix: forms },
    ])
  }
  const issues: MetadataIssue[] = []
  const definition = isDocument(input)
    ? readDocument(input, issues)
    : Object.hasOwn(input, 'properties')
      ? readParts(input, issues)
      : { name: undefined, properties: input }
  if (issues.length > 0) {
    const { name } = definition
    throw metadataInvalid(`${name ? `component ${quote(name)}` : 'the component'} is not valid`, issues)
  }
  return definition
}

/** Is the type one of these, in any letter case? */
export const isTypeOf = (types: readonly string[], type: string): boolean =>
  types.some((one) => one.toLowerCase() === type.toLowerCase())

const label = '[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?'
const apiVersionPattern = new RegExp(`^${label}(\\.${label})*/v1alpha1$`, 'i')

/** Is this an `apiVersion` of components: any domain name and `/v1alpha1`? */
export const isApiVersion = (text: unknown): boolean =>
  typeof text === 'string' && text.length <= 253 && apiVersionPattern.test(text)

const forms =
  'give a component of parseComponents, a YAML document, { name, properties }, or a record of metadata fields'

function kindOf(value: unknown): string {
  if (value === undefined || value === null) return String(value)
  if (value instanceof Promise) return 'a promise'
  return Array.isArray(value) ? 'a list' : `a ${typeof value}`
}

/** No field of ours has one of these names, so a flat record is never taken for a document. */
const isDocument = (input: UnknownRecord) => ['apiVersion', 'kind', 'spec'].some((key) => Object.hasOwn(input, key))

/** Reports what is wrong with the value at a path of a component document. @param field its name. @default the path */
export type Fault = (path: YamlPath, issue: Omit<MetadataIssue, 'field'>, field?: string) => void

/**
 * Reads the envelope of a component document. Other keys are fine: Dapr and Kubernetes have more. `name` and
 * `type` are undefined where they are missing or wrong, which is reported. `scopes`, `auth` and the entries themselves are not checked.
 */
export function readEnvelope(document: UnknownRecord, fault: Fault) {
  const { apiVersion, kind, scopes, auth } = document
  const { name } = isRecord(document.metadata) ? document.metadata : {}
  const { type, version, metadata: entries, ignoreErrors = false } = isRecord(document.spec) ? document.spec : {}
  const text = (given: unknown, path: readonly string[]) => {
    if (typeof given === 'string' && given.trim() !== '' && given.length <= 256) return given
    fault(path, { ...shown(given), rule: 'must be a string of 1 to 256 characters' })
    return undefined
  }
  if (!isApiVersion(apiVersion)) {
    const fix = 'write apiVersion: dapr.io/v1alpha1'
    fault(['apiVersion'], { ...shown(apiVersion), rule: 'must be a domain name and /v1alpha1', fix })
  }
  if (kind !== 'Component') fault(['kind'], { ...shown(kind), rule: 'must be Component' })
  if (typeof (version ?? '') !== 'string') {
    fault(['spec', 'version'], { rule: 'must be a string', fix: `write version: ${componentVersion}` })
  }
  if (!Array.isArray(entries ?? [])) {
    fault(['spec', 'metadata'], { rule: 'must be a list of entries with name and value' })
  }
  if (typeof ignoreErrors !== 'boolean') {
    const fix = 'write it without quotes'
    fault(['spec', 'ignoreErrors'], { ...shown(ignoreErrors), rule: 'must be true or false', fix })
  }
  const list: readonly unknown[] = Array.isArray(entries) ? entries : []
  return {
    name: text(name, ['metadata', 'name']),
    type: text(type, ['spec', 'type']),
    version: typeof version === 'string' && version !== '' ? version : componentVersion,
    ignoreErrors: ignoreErrors === true,
    entries: list,
    scopes,
    auth,
  }
}

function readDocument(document: UnknownRecord, issues: MetadataIssue[]): ComponentDefinition {
  const { name, type, version, entries } = readEnvelope(document, (path, issue) => {
    issues.push({ field: path.join('.'), ...issue })
  })
  if (type !== undefined) checkType('spec.type', type, issues)
  checkVersion('spec.version', version, issues)
  return { name, properties: entries }
}

function readParts(component: UnknownRecord, issues: MetadataIssue[]): ComponentDefinition {
  const { name, type, version, properties } = component
  if (name !== undefined && typeof name !== 'string') {
    issues.push({ field: 'name', ...shown(name), rule: 'must be a string' })
  }
  const places = isRecord(component.places) ? component.places : {}
  if (type !== undefined) checkType('type', type, issues, placeIn(places, 'type'))
  checkVersion('version', version, issues, placeIn(places, 'version'))
  for (const key of Object.keys(component)) {
    if (findField(key))
      issues.push({ field: key, rule: 'stands beside properties', fix: 'write the field within properties' })
  }
  const usable = isRecord(properties) || Array.isArray(properties)
  if (!usable) issues.push({ field: 'properties', rule: 'must be a record or a list of { name, value }' })
  return { name: typeof name === 'string' ? name : undefined, properties: usable ? withPlaces(properties, places) : {} }
}

/** A record of properties as a list with their places, where a component of `parseComponents` has them. */
function withPlaces(properties: MetadataProperties, { properties: places }: UnknownRecord): MetadataProperties {
  if (!isRecord(places) || Array.isArray(properties)) return properties
  return Object.entries(properties).map(([name, value]) => ({ name, value, at: placeIn(places, name) }))
}

const placeIn = (places: UnknownRecord, name: string): FilePlace | undefined =>
  Object.hasOwn(places, name) ? readPlace(places[name]) : undefined

function checkType(field: string, type: unknown, issues: MetadataIssue[], at?: FilePlace): void {
  if (typeof type === 'string' && isTypeOf(componentTypes, type)) return
  const fix = typeof type === 'string' ? didYouMean(type, componentTypes) : undefined
  const rule = `must be ${componentTypes.join(' or ')}`
  issues.push({ field, ...shown(type), rule, ...(fix && { fix }), ...(at !== undefined && { at }) })
}

export function checkVersion(field: string, version: unknown, issues: MetadataIssue[], at?: FilePlace): void {
  if (version === undefined || version === '' || version === componentVersion) return
  const rule = `must be ${componentVersion}, the only version there is`
  issues.push({ field, ...shown(version), rule, ...(at !== undefined && { at }) })
}

/** Names and types are not secret. Of a value other than text only the kind is shown. */
const shown = (value: unknown) => {
  if (value === undefined) return {}
  return { value: typeof value === 'string' ? quote(value) : kindOf(value) }
}
