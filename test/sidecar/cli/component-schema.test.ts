import { globSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { Ajv } from 'ajv'
import { expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { metadataFields } from '../../../src/metadata/fields/find-field.ts'
import { componentSchema } from '../../../src/sidecar/cli/component-schema.ts'

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

/** What the schema says of the value of one field. */
interface Rule {
  readonly if: { readonly properties: { readonly name: { readonly enum: readonly string[] } } }
  readonly then: { readonly properties: { readonly value: Readonly<Record<string, unknown>> } }
}

const component = (...metadata: readonly object[]) => ({
  apiVersion: 'dapr.io/v1alpha1',
  kind: 'Component',
  metadata: { name: 'orders' },
  spec: { type: 'bindings.azure.eventgrid', version: 'v1', metadata },
})

/** The component with other parts of its spec. */
const withSpec = (changes: object) => ({ ...component(), spec: { ...component().spec, ...changes } })

it('knows the components of all examples', () => {
  expect(components.length).toBeGreaterThanOrEqual(8)
})

it.each(components)('accepts the component of $file', ({ document }) => {
  expect(faultsOf(document)).toEqual([])
})

it.each(metadataFields.flatMap(({ name, aliases }) => [name, ...aliases]))('accepts the field %s', (name) => {
  expect(faultsOf(component({ name, value: 'some text' }))).toEqual([])
})

it('accepts all that Dapr reads, and as many entries as there may be', () => {
  const more = { auth: { secretStore: 'vault' }, scopes: ['shop'] }
  const entries = [
    { name: 'accessKey', secretKeyRef: { name: 's' } },
    { name: 'clientSecret', secretKeyRef: { name: 's', key: 'k' } },
    { name: 'tenantId', envRef: 'TENANT' },
    ...Array(253).fill({ name: 'route', value: '/x' }),
  ]
  const document = withSpec({ ignoreErrors: true, initTimeout: '5s', metadata: entries })
  expect(faultsOf({ ...document, ...more })).toEqual([])
})

it.each<[name: string, says: RegExp, byDefault?: string, examples?: readonly string[]]>([
  ['topicSchema', /^Schema that .* Default: auto\.$/, 'auto', ['auto', 'EventGridSchema']],
  ['azureCloud', /^The Azure cloud\..* Default: AzurePublicCloud/, 'AzurePublicCloud'],
  ['namespaceEndpoint', /Format: https URL\. Default: read from Azure Resource Manager\.$/],
  ['accessKey', /Format: string \(secret\)\.$/],
])('tells of the value of %s what it is for, its default and its words', (name, says, byDefault, examples = []) => {
  const schema = JSON.parse(JSON.stringify(componentSchema()))
  const rules: readonly Rule[] = schema.properties.spec.properties.metadata.items.allOf
  const [rule, ...others] = rules.filter((one) => one.if.properties.name.enum.includes(name))
  expect(others).toEqual([])
  const { value } = rule?.then.properties ?? { value: {} }
  expect([value.description, value.default]).toEqual([expect.stringMatching(says), byDefault])
  expect(value.examples ?? []).toEqual(expect.arrayContaining([...examples]))
  expect(value).not.toHaveProperty('enum')
})

it.each([
  { what: 'a misspelt field', document: component({ name: 'tenantld', value: 'x' }) },
  { what: 'an unquoted number', document: component({ name: 'handshakePort', value: 9000 }) },
  { what: 'a misspelt key of an entry', document: component({ name: 'tenantId', vlaue: 'x' }) },
  { what: 'an entry with a value and a reference', document: component({ name: 'tenantId', value: 'x', envRef: 'X' }) },
  { what: 'an entry without a value', document: component({ name: 'tenantId' }) },
  { what: 'another type', document: withSpec({ type: 'bindings.azure.evntgrid' }) },
  { what: 'another version', document: withSpec({ version: 'v2' }) },
  { what: 'a misspelt key of the document', document: { ...component(), scope: ['shop'] } },
  { what: 'an apiVersion of something else', document: { ...component(), apiVersion: 'apps/v1' } },
  ...['Kafka/v1', '/v1alpha1', 'dapr.io/v1alpha1x', 1].map((apiVersion) => ({
    what: `the apiVersion ${apiVersion}`,
    document: { ...component(), apiVersion },
  })),
  { what: 'another kind', document: { ...component(), kind: 'Configuration' } },
  { what: 'no name', document: { ...component(), metadata: {} } },
  { what: 'an empty name', document: { ...component(), metadata: { name: '' } } },
  { what: 'no metadata', document: withSpec({ metadata: undefined }) },
  { what: 'metadata that is no list', document: withSpec({ metadata: {} }) },
  { what: 'a key of spec that Dapr has not', document: withSpec({ ignoreErors: true }) },
  { what: 'ignoreErrors as text', document: withSpec({ ignoreErrors: 'true' }) },
  { what: 'initTimeout as a number', document: withSpec({ initTimeout: 5 }) },
  { what: 'auth without a store', document: { ...component(), auth: {} } },
  { what: 'a store that is no text', document: { ...component(), auth: { secretStore: 5 } } },
  { what: 'scopes that are text', document: { ...component(), scopes: 'shop' } },
  { what: 'scopes that are numbers', document: { ...component(), scopes: [5] } },
  { what: 'an entry that is text', document: withSpec({ metadata: ['tenantId'] }) },
  { what: 'an entry without a name', document: component({ value: 'x' }) },
  { what: 'a reference without a name', document: component({ name: 'tenantId', secretKeyRef: { key: 'k' } }) },
  { what: 'a reference to a number', document: component({ name: 'tenantId', secretKeyRef: { name: 5 } }) },
  { what: 'a key that is a number', document: component({ name: 'tenantId', secretKeyRef: { name: 's', key: 5 } }) },
  {
    what: 'a misspelt key of a reference',
    document: component({ name: 'tenantId', secretKeyRef: { name: 's', kye: 'k' } }),
  },
  { what: 'an empty variable', document: component({ name: 'tenantId', envRef: '' }) },
  { what: 'a variable that is a number', document: component({ name: 'tenantId', envRef: 5 }) },
  { what: '257 entries', document: component(...Array(257).fill({ name: 'route', value: '/x' })) },
])('refuses $what', ({ document }) => {
  expect(faultsOf(document)).not.toEqual([])
})
