import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { splitDeliveryCredentials } from '../../../src/core/delivery-credential.ts'
import {
  credentialsOf,
  declaredAttributes,
  mergeCredentials,
  unreadableAttribute,
} from '../../../src/provision/decide/delivery-attribute.ts'
import type { DeliveryAttribute } from '../../../src/provision/decide/subscription-properties.ts'
import { attribute, ours, standing, theirs, webHook } from '../standing.ts'

const credential = fc.integer({ min: 0, max: 9 }).map((number) => `key${number}.token`)

describe('credentials of several replicas', () => {
  it('are what replicas wrote: the word that ARM shows for a secret, and broken ones, are left out', () => {
    expect(mergeCredentials('Hidden, ,key2.b,.x,y.,key2.b', 'key1.a').value).toBe('key1.a,key2.b')
  })

  const [longId, longToken] = ['k'.repeat(100), 't'.repeat(200)]
  it.each([
    { name: 'of the longest parts', existing: `${longId}.${longToken}`, isOne: true },
    { name: 'with all kinds of characters', existing: 'aZ09-_.aZ09-_', isOne: true },
    { name: 'with too long an id', existing: `k${longId}.t`, isOne: false },
    { name: 'with too long a token', existing: `k.t${longToken}`, isOne: false },
    { name: 'in three parts', existing: 'k.t.x', isOne: false },
    { name: 'with another character before it', existing: '!k.t', isOne: false },
    { name: 'with another character after it', existing: 'k.t!', isOne: false },
  ])('keep one $name: $isOne', ({ existing, isOne }) => {
    const value = isOne ? `key1.a,${existing}` : 'key1.a'
    expect(mergeCredentials(existing, 'key1.a')).toEqual({ value, added: true, removed: 0 })
  })

  it('stay as they stand where ours is among them', () => {
    const value = ' key2.b ,key1.a,?'
    expect(mergeCredentials(value, 'key1.a')).toEqual({ value, added: false, removed: 0 })
  })

  it.each<{ name: string; attributes: readonly DeliveryAttribute[] | undefined; value?: string }>([
    { name: 'our attribute', attributes: [theirs, ours], value: ours.properties.value },
    {
      name: 'our attribute in other letter case',
      attributes: [{ ...ours, name: ours.name.toUpperCase() }],
      value: ours.properties.value,
    },
    { name: 'no attribute, where ours takes a field of the event', attributes: [{ ...ours, type: 'Dynamic' }] },
    { name: 'no attribute, where ours has no properties', attributes: [{ name: ours.name, type: 'Static' }] },
    { name: 'no attribute without a name', attributes: [{ type: 'Static', properties: { value: 'x' } }] },
    { name: 'no list of attributes', attributes: undefined },
  ])('are read from $name', ({ attributes, value }) => {
    expect(credentialsOf(attributes && { deliveryAttributeMappings: [...attributes] })).toBe(value)
    expect(credentialsOf({})).toBeUndefined()
  })

  it('settle after one write of each replica, if they are at most three, in whatever order they start', () => {
    const replicas = fc.array(credential, { minLength: 1, maxLength: 40 })
    fc.assert(
      fc.property(replicas, (starts) => {
        fc.pre(new Set(starts).size <= 3)
        let attribute: string | undefined
        let writes = 0
        for (const ours of [...starts, ...starts]) {
          const { value, added, removed } = mergeCredentials(attribute, ours)
          expect(removed).toBe(0)
          if (added) writes += 1
          attribute = value
        }
        expect(writes).toBe(new Set(starts).size)
        expect([...splitDeliveryCredentials(attribute ?? '')].sort()).toEqual([...new Set(starts)].sort())
      }),
    )
  })

  it('are at most three, ours first, and only the oldest go', () => {
    fc.assert(
      fc.property(fc.uniqueArray(credential, { maxLength: 8 }), credential, (existing, ours) => {
        fc.pre(!existing.includes(ours))
        const { value, added, removed } = mergeCredentials(existing.join(','), ours)
        expect(value.split(',')).toEqual([ours, ...existing.slice(0, 2)])
        expect({ added, removed }).toEqual({ added: true, removed: Math.max(0, existing.length - 2) })
      }),
    )
  })
})

it('declares attributes by their lower-case names, as deliveries have them', () => {
  const deliveryAttributeMappings = [{ ...theirs, name: 'X-Theirs' }, { type: 'Static' }, ours]
  const names = new Set(['x-theirs', ours.name.toLowerCase()])
  expect(declaredAttributes(standing({ destination: webHook({ deliveryAttributeMappings }) }))).toEqual(names)
  expect(declaredAttributes({})).toEqual(new Set())
})

it.each<{ name: string; mapping: DeliveryAttribute; lost: string | undefined }>([
  { name: 'a plain value', mapping: attribute('x', 'v', false), lost: undefined },
  { name: 'a secret that was told', mapping: attribute('x', 'v', true), lost: undefined },
  {
    name: 'a plain value that is the word for a hidden one',
    mapping: attribute('x', 'Hidden', false),
    lost: undefined,
  },
  { name: 'a field of the event', mapping: theirs, lost: undefined },
  { name: 'our own, which is written anyway', mapping: attribute(ours.name, 'Hidden', true), lost: undefined },
  { name: 'a hidden secret', mapping: attribute('x', 'Hidden', true), lost: 'x' },
  { name: 'an empty value', mapping: attribute('x', '', false), lost: 'x' },
  { name: 'no properties', mapping: { name: 'x', type: 'Static' }, lost: 'x' },
  { name: 'no field', mapping: { ...attribute('x', 'v', false), type: 'Dynamic' }, lost: 'x' },
  { name: 'an empty field', mapping: { ...theirs, properties: { sourceField: '' } }, lost: 'x-theirs' },
  { name: 'neither name nor value', mapping: {}, lost: 'without a name' },
])('a write of the destination would lose $lost, of an attribute with $name', ({ mapping, lost }) => {
  const deliveryAttributeMappings = [theirs, mapping]
  expect(unreadableAttribute({ endpointType: 'EventHub', properties: { deliveryAttributeMappings } })).toBe(lost)
  expect(unreadableAttribute({ endpointType: 'EventHub', properties: {} })).toBeUndefined()
  expect(unreadableAttribute({})).toBeUndefined()
})
