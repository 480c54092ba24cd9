import { expect, it } from 'vitest'
import { resetToDefault } from '../../src/metadata/fields/setting.ts'
import { carriedSettings, carryOver, findUnknownSettings } from '../../src/provision/arm/carry-over.ts'
import { desiredSubscription } from '../../src/provision/decide/desired-subscription.ts'
import { header, inputMetadata } from './support/input.ts'

const desire = (settings = {}) =>
  desiredSubscription(inputMetadata({ settings: { eventDeliverySchema: 'CloudEventSchemaV1_0', ...settings } }), header)
const tls = { path: ['destination', 'properties', 'minimumTlsVersionAllowed'] as const, value: '1.2' }
const novel = { operatorType: 'StringMatches', key: 'a', values: ['b'] }

it.each([
  {
    name: 'a web hook setting',
    properties: {
      destination: { endpointType: 'WebHook', properties: { endpointUrl: null, minimumTlsVersionAllowed: '1.2' } },
    },
    expected: [tls],
  },
  {
    name: 'a top-level setting',
    properties: { novelty: { a: 1 } },
    expected: [{ path: ['novelty'], value: { a: 1 } }],
  },
  {
    name: 'filters with an operator of later',
    properties: { filter: { advancedFilters: [novel] } },
    expected: [{ path: ['filter', 'advancedFilters'], value: [novel] }],
  },
  {
    name: 'nothing in filters that the SDK knows',
    properties: { filter: { advancedFilters: [{ operatorType: 'StringIn', key: 'a', values: [] }] } },
    expected: [],
  },
  { name: 'nothing in null', properties: { novelty: null, labels: null }, expected: [] },
  { name: 'nothing in what is no object', properties: 'x', expected: [] },
  {
    name: 'nothing in a prototype key',
    properties: JSON.parse('{"__proto__": {"a": 1}, "constructor": null}'),
    expected: [],
  },
])('finds $name', ({ properties, expected }) => expect(findUnknownSettings(properties)).toEqual(expected))

it.each([
  {
    name: 'filters',
    setting: { path: ['filter', 'advancedFilters'] as const, value: [novel] },
    settings: { advancedFilters: resetToDefault },
  },
  {
    name: 'dead-lettering',
    setting: { path: ['deadLetterDestination', 'novelty'] as const, value: 1 },
    settings: { deadLetter: resetToDefault },
  },
])('does not carry $name that metadata itself sets', ({ setting, settings }) => {
  expect(carriedSettings([setting], desire())).toEqual([setting])
  expect(carriedSettings([setting], desire(settings))).toEqual([])
})

it.each([
  {
    method: 'PUT',
    body: { properties: { labels: [] } },
    expected: { properties: { labels: [], destination: { properties: { minimumTlsVersionAllowed: '1.2' } } } },
  },
  {
    method: 'PATCH',
    body: { destination: { endpointType: 'WebHook', properties: { endpointUrl: 'u' } } },
    expected: {
      destination: { endpointType: 'WebHook', properties: { endpointUrl: 'u', minimumTlsVersionAllowed: '1.2' } },
    },
  },
])('puts them where a $method has its fields', ({ method, body, expected }) => {
  expect(JSON.parse(carryOver(method, JSON.stringify(body), [tls]))).toEqual(expected)
})
