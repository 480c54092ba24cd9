/** What is written out in the form that a field takes is read back the same, and reading what was read changes nothing. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseAdvancedFilters } from '../../src/metadata/fields/advanced-filters.ts'
import { parseSubscriberEndpoint, parseTopicEndpoint } from '../../src/metadata/fields/parse-endpoint.ts'
import { parseScope } from '../../src/metadata/fields/scope.ts'
import { deriveSubscriptionName, parseSubscriptionName } from '../../src/metadata/fields/subscription-name.ts'

const scope = parseScope('/subscriptions/1')

describe('reads back', () => {
  it('its own advanced filters', () => {
    const key = fc.string({ minLength: 1, maxLength: 512 })
    const filter = fc.oneof(
      fc.record({
        operatorType: fc.constantFrom('StringIn', 'StringContains'),
        key,
        values: fc.array(fc.string(), { minLength: 1, maxLength: 5 }),
      }),
      fc.record({
        operatorType: fc.constant('NumberIn'),
        key,
        values: fc.array(fc.integer(), { minLength: 1, maxLength: 5 }),
      }),
      fc.record({ operatorType: fc.constant('BoolEquals'), key, value: fc.boolean() }),
      fc.record({ operatorType: fc.constantFrom('IsNotNull', 'IsNullOrUndefined'), key }),
    )
    fc.assert(
      fc.property(fc.array(filter, { minLength: 1, maxLength: 5 }), (filters) => {
        const parsed = parseAdvancedFilters(JSON.stringify(filters))
        expect(parsed).toEqual(filters)
        expect(parseAdvancedFilters(JSON.stringify(parsed))).toEqual(parsed)
      }),
    )
  })

  it('an endpoint that it made', () => {
    const url = fc.webUrl({ validSchemes: ['https'], withQueryParameters: true })
    fc.assert(
      fc.property(url, (text) => {
        const endpoint = parseSubscriberEndpoint(text)
        expect(parseSubscriberEndpoint(endpoint)).toBe(endpoint)
        expect(new URL(endpoint).pathname).not.toBe('/')
        expect(parseTopicEndpoint(text)).toBe(text)
      }),
    )
  })
})

it('every name that is derived is a name, and the same each time', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary' }),
      fc.webUrl({ validSchemes: ['https'] }),
      (component, subscriberEndpoint) => {
        const name = deriveSubscriptionName(component, { scope, subscriberEndpoint })
        expect(parseSubscriptionName(name)).toBe(name)
        expect(deriveSubscriptionName(component, { scope, subscriberEndpoint })).toBe(name)
      },
    ),
  )
})
