import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { derivePullName, parseScope } from '../../../src/metadata/fields/scope.ts'
import { parseMetadata } from '../../../src/metadata/typed/parse-metadata.ts'
import { sampleInput } from '../sample.ts'

const nameOf = (componentName: string | undefined, extra = {}) =>
  parseMetadata({ ...sampleInput, ...extra }, componentName === undefined ? {} : { componentName }).push
    ?.eventSubscriptionName

describe('the name of the event subscription', () => {
  it('is the one given', () => expect(nameOf('orders', { eventSubscriptionName: 'Given42' })).toBe('Given42'))

  it.each(['orders', 'Abc', 'a'.repeat(64)])('is the name of the component where that is one: %s', (name) =>
    expect(nameOf(name)).toBe(name),
  )

  it.each([
    // The hash is the first 8 digits of what `printf %s NAME | sha256sum` prints.
    ['order-events', 'orderevents684dc626'],
    ['ab', 'abfb8e20fc'],
    ['größe', 'gred353a267'],
    ['c'.repeat(65), expect.stringMatching(/^c{56}[0-9a-f]{8}$/)],
  ])('is made from the name %s otherwise', (name, expected) => expect(nameOf(name)).toEqual(expected))

  it('is always 3 to 64 letters and digits, and differs for names that differ in other characters', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 80 }), (name) => /^[A-Za-z0-9]{3,64}$/.test(nameOf(name) ?? '')),
    )
    expect(nameOf('order-events')).not.toBe(nameOf('order.events'))
  })

  it('comes from scope and endpoint without a component, whatever their letter case, slashes or query', () => {
    const name = nameOf(undefined)
    expect(name).toMatch(/^binding[0-9a-f]{16}$/)
    expect(nameOf('')).toBe(name)
    expect(nameOf(undefined, { scope: `${sampleInput.scope.toUpperCase()}/` })).toBe(name)
    expect(nameOf(undefined, { subscriberEndpoint: 'HTTPS://APP.example?code=secret' })).toBe(name)
    expect(nameOf(undefined, { subscriberEndpoint: 'https://other.example' })).not.toBe(name)
  })
})

describe('the name of a Queue event subscription', () => {
  const topic = '/subscriptions/s/resourceGroups/g/providers/Microsoft.EventGrid/namespaces/n/topics/t'
  const scope = parseScope('/subscriptions/s/resourceGroups/g')

  it.each([
    ['abc', 'abc'],
    ['a'.repeat(50), 'a'.repeat(50)],
    // The hash is the first 8 digits of what `printf %s NAME | sha256sum` prints.
    ['order-events', 'orderevents684dc626'],
    ['b'.repeat(51), expect.stringMatching(/^b{42}[0-9a-f]{8}$/)],
  ])('is made from the name of the component: %s', (name, expected) =>
    expect(derivePullName(name, topic, scope)).toEqual(expected),
  )

  it('comes from the topic and the forwarded scope without a component, whatever their letter case', () => {
    const name = derivePullName(undefined, topic, scope)
    expect(name).toMatch(/^binding[0-9a-f]{16}$/)
    expect(derivePullName('', topic.toUpperCase(), parseScope(scope.id.toUpperCase()))).toBe(name)
    const others = [derivePullName('', topic, undefined), derivePullName('', `${topic}2`, scope)]
    expect(new Set([name, ...others]).size).toBe(3)
  })
})
