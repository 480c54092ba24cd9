import { globSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { Ajv } from 'ajv'
import { expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { componentSchema } from '../../../src/metadata/component/component-schema.ts'
import { metadataFields } from '../../../src/metadata/fields/find-field.ts'

const root = resolve(import.meta.dirname, '../../..')
const validate = new Ajv({ strict: true, strictRequired: false, strictTypes: false }).compile(componentSchema())
const faultsOf = (document: unknown) => (validate(document) ? [] : validate.errors)

/** The components of the examples and of the files that `init` writes. */
const components = globSync('examples/**/*.yaml', { cwd: root }).flatMap((file) =>
  parseAllDocuments(readFileSync(resolve(root, file), 'utf8'))
    .map((document) => document.toJS())
    .filter((document) => /^bindings\./.test(document?.spec?.type))
    .map((document) => ({ file, document })),
)

const component = (...metadata: readonly object[]) => ({
  apiVersion: 'dapr.io/v1alpha1',
  kind: 'Component',
  metadata: { name: 'orders' },
  spec: { type: 'bindings.azure.eventgrid', version: 'v1', metadata },
})

it('knows the components of all examples', () => {
  expect(components.length).toBeGreaterThanOrEqual(8)
})

it.each(components)('accepts the component of $file', ({ document }) => {
  expect(faultsOf(document)).toEqual([])
})

it.each(metadataFields.flatMap(({ name, aliases }) => [name, ...aliases]))('accepts the field %s', (name) => {
  expect(faultsOf(component({ name, value: 'some text' }))).toEqual([])
})

it.each([
  { what: 'a misspelt field', document: component({ name: 'tenantld', value: 'x' }) },
  { what: 'an unquoted number', document: component({ name: 'handshakePort', value: 9000 }) },
  { what: 'a misspelt key of an entry', document: component({ name: 'tenantId', vlaue: 'x' }) },
  { what: 'an entry with a value and a reference', document: component({ name: 'tenantId', value: 'x', envRef: 'X' }) },
  { what: 'an entry without a value', document: component({ name: 'tenantId' }) },
  {
    what: 'another type',
    document: { ...component(), spec: { ...component().spec, type: 'bindings.azure.evntgrid' } },
  },
  { what: 'another version', document: { ...component(), spec: { ...component().spec, version: 'v2' } } },
  { what: 'a misspelt key of the document', document: { ...component(), scope: ['shop'] } },
  { what: 'an apiVersion of something else', document: { ...component(), apiVersion: 'apps/v1' } },
])('refuses $what', ({ document }) => {
  expect(faultsOf(document)).not.toEqual([])
})
