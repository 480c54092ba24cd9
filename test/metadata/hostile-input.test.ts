/** No text, however long or odd, takes a parser more than its fair time, throws anything but its own error, or reaches a prototype. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BindingError } from '../../src/core/errors.ts'
import { isApiVersion, readDefinition } from '../../src/metadata/component/component-definition.ts'
import { resolveEnvRef } from '../../src/metadata/component/component-properties.ts'
import {
  parseAzureEnvironment,
  parseSubscriberEndpoint,
  parseTopicEndpoint,
  showUrl,
} from '../../src/metadata/fields/addresses.ts'
import { BrokenRule } from '../../src/metadata/fields/faults.ts'
import { findField, isPrintable, metadataFields, showValue } from '../../src/metadata/fields/find-field.ts'
import { parseChoice, parseDuration, parseInteger, parseList } from '../../src/metadata/fields/rules.ts'
import { deriveSubscriptionName, parseScope, parseSubscriptionName } from '../../src/metadata/fields/scope.ts'
import { parseAdvancedFilters } from '../../src/metadata/fields/subscription-settings.ts'
import { parseComponents } from '../../src/metadata/load/load-components.ts'
import { findSecret } from '../../src/metadata/load/secrets.ts'
import { parseMetadata } from '../../src/metadata/typed/parse-metadata.ts'
import { nearestName } from '../../src/support/text/nearest-name.ts'
import { quote } from '../../src/support/text/text.ts'
import { anyText } from '../support/any-text.ts'
import { thrownBy } from '../support/thrown.ts'
import { sampleInput, sampleOutput } from './sample.ts'

const large = 500_000
const fill = (text: string) => text.repeat(Math.ceil(large / text.length))

/** Texts that make a pattern with two ways to match the same thing go back again and again. */
const hostile = [
  ...['a', '1', ' ', '/', 'a/', '-', 'a-', 'a.', '@', '?', 'http://', 'https://a?b '].map(fill),
  ...['[', '{"a":', '"', '\n', '\ud800', 'İ'].map(fill),
  `https://${fill('a')}`,
  `https://${fill('a.')}@`,
  `https://a/${fill('?')}`,
  `/subscriptions/${fill('a')}`,
  `/subscriptions/1/resourceGroups/r/providers/${fill('a/b/')}`,
  `${fill('1h')}x`,
  `${fill('1.1')}h`,
  `${fill('1')}.`,
  `${fill('a-')}/v1alpha1`,
  `${fill('a.')}/v1alpha1`,
  `[${fill('"a",')}`,
  `[${fill('[1,2],')}1]`,
].map((text) => ({ text, start: `${text.slice(0, 24)}…${text.slice(-8)}` }))

const anyDuration = { atLeast: '1ms', atMost: '24h' }
const scope = parseScope('/subscriptions/1')
const subscriberEndpoint = 'https://app.example/api/events'

const parsers: readonly { readonly name: string; readonly parse: (text: string) => unknown }[] = [
  { name: 'parseAdvancedFilters', parse: parseAdvancedFilters },
  { name: 'parseAzureEnvironment', parse: parseAzureEnvironment },
  { name: 'parseChoice', parse: (text) => parseChoice(text, ['one', 'two']) },
  { name: 'parseComponents', parse: parseComponents },
  { name: 'parseDuration', parse: (text) => parseDuration(text, anyDuration) },
  { name: 'parseSubscriberEndpoint', parse: parseSubscriberEndpoint },
  { name: 'parseTopicEndpoint', parse: parseTopicEndpoint },
  { name: 'parseInteger', parse: (text) => parseInteger(text, 0, 9) },
  { name: 'parseList', parse: parseList },
  { name: 'parseScope', parse: parseScope },
  { name: 'parseSubscriptionName', parse: parseSubscriptionName },
  { name: 'deriveSubscriptionName', parse: (text) => deriveSubscriptionName(text, { scope, subscriberEndpoint }) },
  { name: 'isApiVersion', parse: isApiVersion },
  { name: 'nearestName', parse: (text) => nearestName(text, ['handshakePort']) },
  { name: 'findField', parse: findField },
  { name: 'showUrl', parse: showUrl },
  { name: 'quote', parse: quote },
  {
    name: 'showValue',
    parse: (text) => [showValue('scope', text), showValue('topicEndpoint', text), showValue(text, text)],
  },
  { name: 'isPrintable', parse: (text) => [isPrintable('topicEndpoint', text), isPrintable(text, text)] },
  { name: 'resolveEnvRef', parse: (text) => resolveEnvRef(text, { a: 'b' }) },
  { name: 'findSecret', parse: (text) => findSecret({ a: { b: 'c' } }, { name: text, key: text }) },
  { name: 'readDefinition', parse: (text) => readDefinition({ apiVersion: text, kind: text, spec: { type: text } }) },
  {
    // Longer values are refused before they get so far.
    name: 'parseMetadata',
    parse: (text) =>
      parseMetadata({
        [text]: text,
        ...Object.fromEntries(metadataFields.map(({ name }) => [name, text.slice(0, 65_536)])),
      }),
  },
]

const isOurs = (error: unknown) => error instanceof BindingError || error instanceof BrokenRule

/** A value, or one of our own errors; anything else is thrown on. */
function attempt<T>(parse: () => T): T | undefined {
  try {
    return parse()
  } catch (error) {
    if (isOurs(error)) return undefined
    throw error
  }
}

describe.each(parsers)('$name', ({ parse }) => {
  // Quadratic work on half a megabyte takes minutes: the test's own time-out is the measure.
  it('takes half a megabyte of anything', () => {
    for (const { text } of hostile) attempt(() => parse(text))
  })

  it('answers any text, or throws an error of ours', () => {
    fc.assert(fc.property(fc.oneof(anyText(), fc.json()), (text) => void attempt(() => parse(text))))
  })
})

describe('metadata of any form', () => {
  const odd = { withBigInt: true, withDate: true, withMap: true, withNullPrototype: true, withSparseArray: true }
  const anything = fc.anything(odd)
  const anyProperties = fc.oneof(
    fc.dictionary(fc.oneof(fc.constantFrom(...metadataFields.map(({ name }) => name)), fc.string()), anything),
    fc.array(fc.oneof(anything, fc.record({ name: fc.string(), value: anything }))),
  )
  const anyDefinition = fc.oneof(
    anything,
    anyProperties,
    fc.record({ name: anything, type: anything, version: anything, properties: fc.oneof(anything, anyProperties) }),
    fc.record({ apiVersion: anything, kind: anything, metadata: anything, spec: anything }),
    fc.record({
      apiVersion: fc.constant('dapr.io/v1alpha1'),
      kind: fc.constant('Component'),
      metadata: fc.record({ name: fc.string({ minLength: 1 }) }),
      spec: fc.record({ type: fc.constant('bindings.azure.eventgrid'), metadata: anyProperties }),
    }),
  )
  const read = (definition: unknown) => {
    const { name, properties } = readDefinition(definition)
    return parseMetadata(properties, { ...(name !== undefined && { componentName: name }) })
  }

  it('is taken or refused by METADATA_INVALID, never by another error', () => {
    fc.assert(
      fc.property(anyDefinition, (definition) => {
        try {
          read(definition)
        } catch (error) {
          expect(error).toBeInstanceOf(BindingError)
          expect(error).toMatchObject({ code: 'METADATA_INVALID', issues: expect.arrayContaining([expect.anything()]) })
        }
      }),
      { numRuns: 300 },
    )
  })

  it('is read the same twice, and not changed', () => {
    const valid = fc
      .record({
        input: fc.boolean(),
        maxConcurrency: fc.integer({ min: 1, max: 10_000 }),
        labels: fc.array(fc.uuid(), { minLength: 1 }),
      })
      .map(({ input, maxConcurrency, labels }) => ({
        ...sampleOutput,
        ...(input && { ...sampleInput, maxConcurrency: String(maxConcurrency), labels: JSON.stringify(labels) }),
      }))
    fc.assert(
      fc.property(valid, (properties) => {
        const before = structuredClone(properties)
        expect(parseMetadata(properties)).toEqual(parseMetadata(properties))
        expect(properties).toEqual(before)
      }),
    )
  })

  it('lists no more faults than a list of entries may have entries', () => {
    const { issues } = thrownBy(() => parseMetadata(JSON.parse(`[${'7,'.repeat(large)}7]`)))
    expect(issues.length).toBeLessThan(300)
  })
})

describe('YAML of any form', () => {
  const head = [
    'apiVersion: dapr.io/v1alpha1',
    'kind: Component',
    'metadata: { name: orders }',
    'spec:',
    '  type: bindings.cloud.eventrouter',
  ].join('\n')
  // What takes too long for the longest text there may be, eight times as much, is seen here too: a test may take two minutes.
  const most = 32_768
  const upTo = (text: string, length = most) => text.repeat(Math.ceil(length / text.length)).slice(0, length)

  it.each([
    ['sequences in sequences', upTo('- ')],
    ['flow sequences', upTo('[')],
    ['closing brackets', upTo('}')],
    ['flow mappings', upTo('{a: ')],
    ['complex keys', upTo('? ')],
    ['anchors', upTo('&a ')],
    ['aliases', `- &a x\n${upTo('- *a\n', most - 10)}`],
    ['aliases without an anchor', upTo('*a ')],
    ['tags', upTo('!a ')],
    ['the same key', upTo('a:\n')],
    ['escapes', `"${upTo('\\n', most - 1)}`],
    ['folded lines', `a: >\n${upTo(' x\n\n', most - 10)}`],
    ['mappings a thousand deep', `${'{a: '.repeat(1000)}${'}'.repeat(1000)}`],
    ['sequences three thousand deep', `${'- '.repeat(3000)}x`],
    ['a component that holds itself', `kind: Component\nspec: &s\n  type: x\n  metadata:\n  - *s\n`],
    ['thousands of entries', `${head}\n  metadata:\n${upTo('  - {name: b}\n')}`],
    [
      'thousands of keys beside thousands of entries',
      `${head}\n${Array.from({ length: 3000 }, (_, index) => `  k${index}: `).join('\n')}\n  metadata:\n${upTo('  - {name: b}\n', 30_000)}`,
    ],
    ['lone surrogates', upTo('\ud800')],
    ['a long number', `a: ${upTo('1', 30_000)}e`],
  ])('is taken or refused: %s', (_, text) => void attempt(() => parseComponents(text)))

  it('is taken or refused, whatever is put in place of a part', () => {
    const lines =
      `${head}\n  version: v1\n  metadata:\n  - name: scope\n    value: "x"\n  - name: clientSecret\n` +
      '    secretKeyRef: { name: a, key: b }'
    const words = ['- ', '? ', ': ', '&a ', '*a ', '!!int ', '<<: ', '---\n', '__proto__: ']
    const part = fc.constantFrom(...words, ...'{}[]"\'|>%\n\t#\0~')
    const edit = fc.tuple(fc.nat(lines.length), fc.nat(4), fc.array(part, { maxLength: 4 }))
    fc.assert(
      fc.property(fc.array(edit, { minLength: 1, maxLength: 4 }), (edits) => {
        const text = edits.reduce(
          (now, [at, cut, parts]) => now.slice(0, at) + parts.join('') + now.slice(at + cut),
          lines,
        )
        attempt(() => parseComponents(text, { secrets: { a: { b: 'c' } } }))
      }),
      { numRuns: 300 },
    )
  })
})

it('takes no field from a prototype, and has put none into that of all objects', () => {
  const inherited: object = Object.create({ ...sampleInput })
  expect(attempt(() => parseMetadata(readDefinition(inherited).properties))).toBeUndefined()
  expect(Object.keys(Object.prototype)).toEqual([])
})
