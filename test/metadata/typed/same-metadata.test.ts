import { expect, it } from 'vitest'
import { Secret } from '../../../src/core/secret.ts'
import { isSameMetadata } from '../../../src/metadata/typed/metadata.ts'

const metadata = (secret: string, more: object = {}) => ({
  settings: { labels: ['a', 'b'], names: new Set(['x']), at: undefined },
  sources: [new Secret(secret)],
  credential: { clientSecret: new Secret(secret) },
  ...more,
})

it.each([
  ['equal values', metadata('s'), metadata('s'), true],
  ['another secret', metadata('s'), metadata('t'), false],
  ['another secret of a list', metadata('s'), metadata('s', { sources: [new Secret('t')] }), false],
  ['a text in place of a secret', metadata('s'), metadata('s', { sources: ['s'] }), false],
  ['another item of a list', { a: ['b'] }, { a: ['c'] }, false],
  ['another set', { a: new Set(['b']) }, { a: new Set(['c']) }, false],
  ['null', { a: null }, { a: {} }, false],
  ['nothing', undefined, undefined, true],
])('compares by value: %s', (_name, one, other, expected) => expect(isSameMetadata(one, other)).toBe(expected))
