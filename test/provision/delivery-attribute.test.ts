import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { splitDeliveryCredentials } from '../../src/core/delivery-credential.ts'
import { credentialsOf, declaredAttributes, mergeCredentials } from '../../src/provision/needs-webhook.ts'
import { type DeliveryAttribute, unreadableAttribute } from '../../src/provision/values.ts'
import { attribute, ours, standing, theirs, webHook } from './standing.ts'

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

  it.each<[name: string, attributes: readonly DeliveryAttribute[] | undefined, value?: string]>([
    ['our attribute', [theirs, ours], ours.properties.value],
    ['our attribute in other letter case', [{ ...ours, name: ours.name.toUpperCase() }], ours.properties.value],
    ['no attribute, where ours takes a field of the event', [{ ...ours, type: 'Dynamic' }]],
    ['no attribute, where ours has no properties', [{ name: ours.name, type: 'Static' }]],
    ['no attribute without a name', [{ type: 'Static', properties: { value: 'x' } }]],
    ['no list of attributes', undefined],
  ])('are read from %s', (_name, attributes, value) => {
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
  expect(declaredAttributes(standing({ destination: webHook({ deliveryAttributeMappings }) }))).toEqual(['x-theirs'])
  expect(declaredAttributes({})).toEqual([])
})

it.each<[name: string, mapping: DeliveryAttribute, lost: string | undefined]>([
  ['a plain value', attribute('x', 'v', false), undefined],
  ['a secret that was told', attribute('x', 'v', true), undefined],
  ['a plain value that is the word for a hidden one', attribute('x', 'Hidden', false), undefined],
  ['a field of the event', theirs, undefined],
  ['our own, which is written anyway', attribute(ours.name, 'Hidden', true), undefined],
  ['a hidden secret', attribute('x', 'Hidden', true), 'x'],
  ['an empty value', attribute('x', '', false), 'x'],
  ['no properties', { name: 'x', type: 'Static' }, 'x'],
  ['no field', { ...attribute('x', 'v', false), type: 'Dynamic' }, 'x'],
  ['an empty field', { ...theirs, properties: { sourceField: '' } }, 'x-theirs'],
  ['neither name nor value', {}, 'without a name'],
])('what a write of the destination would lose of an attribute with %s', (_name, mapping, lost) => {
  const deliveryAttributeMappings = [theirs, mapping]
  expect(unreadableAttribute({ endpointType: 'EventHub', properties: { deliveryAttributeMappings } })).toBe(lost)
  expect(unreadableAttribute({ endpointType: 'EventHub', properties: {} })).toBeUndefined()
  expect(unreadableAttribute({})).toBeUndefined()
})
