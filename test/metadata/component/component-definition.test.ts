import { describe, expect, it } from 'vitest'
import { readDefinition } from '../../../src/metadata/component/component-definition.ts'
import { thrownBy } from '../../support/thrown.ts'
import { sampleOutput } from '../sample.ts'

const list = Object.entries(sampleOutput).map(([name, value]) => ({ name, value }))
const document = {
  apiVersion: 'dapr.io/v1alpha1',
  kind: 'Component',
  metadata: { name: 'orders' },
  spec: { type: 'bindings.cloud.eventrouter', version: 'v1', metadata: list },
}

const at = { file: 'f.yaml', line: 1, column: 2 }

/** The document with another part of its spec. */
const withSpec = (changes: object) => ({ ...document, spec: { ...document.spec, ...changes } })

describe('readDefinition', () => {
  it.each<[form: string, input: object, expected: object]>([
    [
      'a component with its type',
      { name: 'orders', type: 'bindings.azure.eventgrid', version: 'v1', properties: sampleOutput },
      { name: 'orders', properties: sampleOutput },
    ],
    ['a YAML document', document, { name: 'orders', properties: list }],
    ['a name and a record', { name: 'orders', properties: sampleOutput }, { name: 'orders', properties: sampleOutput }],
    ['a name and a list', { name: 'orders', properties: list }, { name: 'orders', properties: list }],
    ['a flat record', sampleOutput, { properties: sampleOutput }],
    ['a component of no type and an empty version', { version: '', properties: list }, { properties: list }],
    ['a document of no version', withSpec({ version: '' }), { name: 'orders', properties: list }],
    [
      'a record with the places of its values',
      { properties: sampleOutput, places: { properties: { accessKey: at, topicEndpoint: 'nowhere' } } },
      { properties: list.map((entry) => ({ ...entry, at: entry.name === 'accessKey' ? at : undefined })) },
    ],
    ['a list, odd places', { properties: list, places: { properties: { accessKey: at } } }, { properties: list }],
    ['a document without metadata', withSpec({ metadata: undefined }), { name: 'orders', properties: [] }],
  ])('takes %s', (_form, input, expected) => expect(readDefinition(input)).toEqual(expected))

  it.each(['bindings.cloud.eventrouter', 'bindings.azure.eventgrid', 'Bindings.Azure.EventGrid'])(
    'answers to the type %s',
    (type) => expect(readDefinition(withSpec({ type })).name).toBe('orders'),
  )

  it.each([
    ...['dapr.io/v1alpha1', 'platform.example/v1alpha1', 'a-b.c.example/v1alpha1', 'Dapr.IO/V1alpha1'],
    ...[`${'a'.repeat(63)}/v1alpha1`, `${'a.'.repeat(121)}a/v1alpha1`],
  ])('takes the apiVersion %s', (apiVersion) => expect(readDefinition({ ...document, apiVersion }).name).toBe('orders'))

  const several = { ...document, kind: 'x', apiVersion: 'y', spec: { type: 'z', version: 'w' } }

  it.each<[what: string, input: object, ...fields: string[]]>([
    ['another type', withSpec({ type: 'bindings.kafka' }), 'spec.type'],
    ['no type', { ...document, spec: { version: 'v1' } }, 'spec.type'],
    ['another version', withSpec({ version: 'v2' }), 'spec.version'],
    ['a version that is a number', withSpec({ version: 1 }), 'spec.version'],
    ['another kind', { ...document, kind: 'Configuration' }, 'kind'],
    ['no kind', { ...document, kind: undefined }, 'kind'],
    ['another apiVersion', { ...document, apiVersion: 'dapr.io/v1' }, 'apiVersion'],
    ['an apiVersion without a domain', { ...document, apiVersion: '/v1alpha1' }, 'apiVersion'],
    ['no name', { ...document, metadata: {} }, 'metadata.name'],
    // Each of these words alone makes a document: it is not a flat record with an unknown field.
    ['a spec alone', { spec: document.spec }, 'apiVersion', 'kind', 'metadata.name'],
    ['a kind alone', { kind: 'Component' }, 'apiVersion', 'metadata.name', 'spec.type'],
    ['an apiVersion alone', { apiVersion: 'dapr.io/v1alpha1' }, 'kind', 'metadata.name', 'spec.type'],
    ['an empty name', { ...document, metadata: { name: ' ' } }, 'metadata.name'],
    ['a name of 257 characters', { ...document, metadata: { name: 'n'.repeat(257) } }, 'metadata.name'],
    ['an apiVersion of 254 characters', { ...document, apiVersion: `${'a.'.repeat(122)}a/v1alpha1` }, 'apiVersion'],
    ['an apiVersion with a label of 64', { ...document, apiVersion: `${'a'.repeat(64)}/v1alpha1` }, 'apiVersion'],
    ['an apiVersion with more behind it', { ...document, apiVersion: 'dapr.io/v1alpha1x' }, 'apiVersion'],
    ['an apiVersion that is no text', { ...document, apiVersion: 1 }, 'apiVersion'],
    ['metadata that is no mapping', { ...document, metadata: 'orders' }, 'metadata.name'],
    ['a component whose type is no text', { type: null, properties: {} }, 'type'],
    ['no spec', { ...document, spec: undefined }, 'spec.type'],
    ['metadata that is no list', withSpec({ metadata: sampleOutput }), 'spec.metadata'],
    ['a component of another type', { name: 'x', type: 'state.redis', properties: {} }, 'type'],
    ['a component of another version', { name: 'x', version: 'v9', properties: {} }, 'version'],
    ['properties that are text', { name: 'x', properties: 'x' }, 'properties'],
    ['a name that is no text', { name: 7, properties: {} }, 'name'],
    ['fields beside properties', { properties: {}, scope: 'x', AccessKey: 'y', scopes: [] }, 'scope', 'AccessKey'],
    ['several faults together', several, 'apiVersion', 'kind', 'spec.type', 'spec.version'],
  ])('refuses %s', (_what, input, ...fields) => {
    const error = thrownBy(() => readDefinition(input))
    expect(error.code).toBe('METADATA_INVALID')
    expect(error.issues.map(({ field }) => field)).toEqual(fields)
  })

  it('says what was written, what to write and where, and whose component it is', () => {
    const places = { type: at, version: { ...at, line: 2 } }
    const error = thrownBy(() =>
      readDefinition({ name: 'orders', type: 'bindings.azure.eventgird', version: 2, properties: 5, places }),
    )
    expect(error.message).toContain('component "orders" is not valid')
    const type = 'must be bindings.cloud.eventrouter or bindings.azure.eventgrid'
    expect(error.issues).toEqual([
      {
        ...{ field: 'type', value: '"bindings.azure.eventgird"', rule: type, at },
        fix: 'did you mean bindings.azure.eventgrid?',
      },
      { field: 'version', value: 'a number', rule: 'must be v1, the only version there is', at: places.version },
      { field: 'properties', rule: 'must be a record or a list of { name, value }' },
    ])
    const unnamed = thrownBy(() => readDefinition({ type: null, properties: {} }))
    expect([unnamed.message, unnamed.issues]).toEqual([
      expect.stringContaining('the component is not valid'),
      [{ field: 'type', value: 'null', rule: type }],
    ])
  })

  it.each([
    [{ ...document, apiVersion: 'x' }, 'write apiVersion: dapr.io/v1alpha1'],
    [withSpec({ version: 1 }), 'write version: v1'],
  ])('says what to write in place of %j', (input, fix) =>
    expect(thrownBy(() => readDefinition(input)).issues).toMatchObject([{ fix }]),
  )

  it.each<[input: unknown, value: string]>([
    [undefined, 'undefined'],
    [null, 'null'],
    ['text', 'a string'],
    [7n, 'a bigint'],
    [[document], 'a list'],
    [() => document, 'a function'],
    [Promise.resolve(document), 'a promise'],
  ])('refuses %s, which is no component, and says what it is', (input, value) => {
    const { code, issues } = thrownBy(() => readDefinition(input))
    expect({ code, issues }).toMatchObject({
      code: 'METADATA_INVALID',
      issues: [{ value, rule: 'must be a component', fix: expect.stringMatching(/^give a component/) }],
    })
  })
})
