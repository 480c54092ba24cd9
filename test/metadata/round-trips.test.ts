/** What is written out in the form that a field takes is read back the same, and reading what was read changes nothing. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseAdvancedFilters } from '../../src/metadata/fields/advanced-filters.ts'
import { parseSubscriberEndpoint, parseTopicEndpoint } from '../../src/metadata/fields/parse-endpoint.ts'
import { parseDuration, parseInteger, parseList } from '../../src/metadata/fields/plain-values.ts'
import { parseScope } from '../../src/metadata/fields/scope.ts'
import { deriveSubscriptionName, parseSubscriptionName } from '../../src/metadata/fields/subscription-name.ts'

const anyDuration = { atLeast: '0s', atMost: '20000h' }
const scope = parseScope('/subscriptions/1')
const item = fc.string({ minLength: 1 }).filter((text) => text.trim() === text && !text.includes(','))

describe('reads back', () => {
  it('an integer', () => {
    fc.assert(
      fc.property(fc.nat({ max: 99_999_999 }), (number) => {
        expect(parseInteger(`${number}`, 0, Number.MAX_SAFE_INTEGER)).toBe(number)
      }),
    )
  })

  it('a duration of hours, minutes, seconds and milliseconds', () => {
    const part = fc.nat({ max: 9_999 })
    fc.assert(
      fc.property(part, part, part, part, (h, m, s, ms) => {
        const sum = ((h * 60 + m) * 60 + s) * 1_000 + ms
        expect(parseDuration(`${h}h${m}m${s}s${ms}ms`, anyDuration)).toBe(sum)
      }),
    )
  })

  it('a list, as JSON whatever it holds, and by commas', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ minLength: 1 }), { minLength: 1 }), (items) => {
        expect(parseList(JSON.stringify(items))).toEqual(items)
      }),
    )
    fc.assert(
      fc.property(fc.array(item, { minLength: 1 }), (items) => {
        fc.pre(!items[0]?.startsWith('['))
        expect(parseList(items.join(' , '))).toEqual(items)
      }),
    )
  })

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
