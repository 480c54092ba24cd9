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
    ['a flat record', sampleOutput, { name: undefined, properties: sampleOutput }],
    [
      'a document without metadata',
      { ...document, spec: { type: 'bindings.cloud.eventrouter' } },
      { name: 'orders', properties: [] },
    ],
  ])('takes %s', (_form, input, expected) => expect(readDefinition(input)).toEqual(expected))

  it.each(['bindings.cloud.eventrouter', 'bindings.azure.eventgrid', 'Bindings.Azure.EventGrid'])(
    'answers to the type %s',
    (type) => expect(readDefinition(withSpec({ type })).name).toBe('orders'),
  )

  it.each(['dapr.io/v1alpha1', 'platform.example/v1alpha1', 'a-b.c.example/v1alpha1'])(
    'takes the apiVersion %s',
    (apiVersion) => expect(readDefinition({ ...document, apiVersion }).name).toBe('orders'),
  )

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
    ['no spec', { ...document, spec: undefined }, 'spec.type'],
    ['metadata that is no list', withSpec({ metadata: sampleOutput }), 'spec.metadata'],
    ['a component of another type', { name: 'x', type: 'state.redis', properties: {} }, 'type'],
    ['a component of another version', { name: 'x', version: 'v9', properties: {} }, 'version'],
    ['properties that are text', { name: 'x', properties: 'x' }, 'properties'],
    ['a name that is no text', { name: 7, properties: {} }, 'name'],
    ['several faults together', several, 'apiVersion', 'kind', 'spec.type', 'spec.version'],
  ])('refuses %s', (_what, input, ...fields) => {
    const error = thrownBy(() => readDefinition(input))
    expect(error.code).toBe('METADATA_INVALID')
    expect(error.issues.map(({ field }) => field)).toEqual(fields)
  })

  it.each<[input: unknown, value: string, fix: RegExp]>([
    [undefined, 'undefined', /^is there such a component\? give a component/],
    [null, 'null', /^is there such a component\? give a component/],
    ['text', 'a text', /^read it with parseComponents$/],
    [7, 'a number', /^give a component/],
    [7n, 'a bigint', /^give a component/],
    [true, 'a boolean', /^give a component/],
    [[], 'a list', /^pass one of the components of the list/],
    [[document], 'a list', /^pass one of the components of the list/],
    [() => document, 'a function', /^give a component/],
    [Promise.resolve(document), 'a promise', /^await it first$/],
  ])('refuses %s, which is no component, and says what it is', (input, value, fix) => {
    const { code, issues } = thrownBy(() => readDefinition(input))
    expect({ code, issues }).toMatchObject({
      code: 'METADATA_INVALID',
      issues: [{ value, rule: 'must be a component: an object', fix: expect.stringMatching(fix) }],
    })
  })
})
