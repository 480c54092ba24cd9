import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { splitDeliveryCredentials } from '../../../src/core/delivery-credential.ts'
import { mergeCredentials } from '../../../src/provision/decide/delivery-attribute.ts'

const credential = fc.integer({ min: 0, max: 9 }).map((number) => `key${number}.token`)

describe('credentials of several replicas', () => {
  it('are what replicas wrote: the word that ARM shows for a secret, and broken ones, are left out', () => {
    expect(mergeCredentials('Hidden, ,key2.b,.x,y.,key2.b', 'key1.a').value).toBe('key1.a,key2.b')
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
