import { describe, expect, it } from 'vitest'
import { readDefinition } from '../../src/metadata/component/component-definition.ts'
import { thrownBy } from '../support/thrown.ts'
import { sampleOutput } from './sample.ts'

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
  it.each([
    {
      form: 'a component with its type',
      input: { name: 'orders', type: 'bindings.azure.eventgrid', version: 'v1', properties: sampleOutput },
      expected: { name: 'orders', properties: sampleOutput },
    },
    { form: 'a YAML document', input: document, expected: { name: 'orders', properties: list } },
    {
      form: 'a name and a record',
      input: { name: 'orders', properties: sampleOutput },
      expected: { name: 'orders', properties: sampleOutput },
    },
    {
      form: 'a name and a list',
      input: { name: 'orders', properties: list },
      expected: { name: 'orders', properties: list },
    },
    { form: 'a flat record', input: sampleOutput, expected: { name: undefined, properties: sampleOutput } },
    {
      form: 'a document without metadata',
      input: { ...document, spec: { type: 'bindings.cloud.eventrouter' } },
      expected: { name: 'orders', properties: [] },
    },
  ])('takes $form', ({ input, expected }) => expect(readDefinition(input)).toEqual(expected))

  it.each(['bindings.cloud.eventrouter', 'bindings.azure.eventgrid', 'Bindings.Azure.EventGrid'])(
    'answers to the type %s',
    (type) => expect(readDefinition(withSpec({ type })).name).toBe('orders'),
  )

  it.each(['dapr.io/v1alpha1', 'platform.example/v1alpha1', 'a-b.c.example/v1alpha1'])(
    'takes the apiVersion %s',
    (apiVersion) => expect(readDefinition({ ...document, apiVersion }).name).toBe('orders'),
  )

  it.each([
    { what: 'another type', input: withSpec({ type: 'bindings.kafka' }), fields: ['spec.type'] },
    { what: 'no type', input: { ...document, spec: { version: 'v1' } }, fields: ['spec.type'] },
    { what: 'another version', input: withSpec({ version: 'v2' }), fields: ['spec.version'] },
    { what: 'a version that is a number', input: withSpec({ version: 1 }), fields: ['spec.version'] },
    { what: 'another kind', input: { ...document, kind: 'Configuration' }, fields: ['kind'] },
    { what: 'no kind', input: { ...document, kind: undefined }, fields: ['kind'] },
    { what: 'another apiVersion', input: { ...document, apiVersion: 'dapr.io/v1' }, fields: ['apiVersion'] },
    { what: 'an apiVersion without a domain', input: { ...document, apiVersion: '/v1alpha1' }, fields: ['apiVersion'] },
    { what: 'no name', input: { ...document, metadata: {} }, fields: ['metadata.name'] },
    { what: 'no spec', input: { ...document, spec: undefined }, fields: ['spec.type'] },
    { what: 'metadata that is no list', input: withSpec({ metadata: sampleOutput }), fields: ['spec.metadata'] },
    {
      what: 'a component of another type',
      input: { name: 'x', type: 'state.redis', properties: {} },
      fields: ['type'],
    },
    {
      what: 'a component of another version',
      input: { name: 'x', version: 'v9', properties: {} },
      fields: ['version'],
    },
    { what: 'properties that are text', input: { name: 'x', properties: 'x' }, fields: ['properties'] },
    { what: 'a name that is no text', input: { name: 7, properties: {} }, fields: ['name'] },
    {
      what: 'several faults together',
      input: { ...document, kind: 'x', apiVersion: 'y', spec: { type: 'z', version: 'w' } },
      fields: ['apiVersion', 'kind', 'spec.type', 'spec.version'],
    },
  ])('refuses $what', ({ input, fields }) => {
    const error = thrownBy(() => readDefinition(input))
    expect(error.code).toBe('METADATA_INVALID')
    expect(error.issues.map(({ field }) => field)).toEqual(fields)
  })

  it.each([undefined, null, 'text', 7, true, [], [document], () => document])(
    'refuses %s, which is no component',
    (input) => {
      expect(thrownBy(() => readDefinition(input)).code).toBe('METADATA_INVALID')
    },
  )
})
