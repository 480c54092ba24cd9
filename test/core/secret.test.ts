import { format, inspect } from 'node:util'
import { expect, it } from 'vitest'
import { Secret } from '../../src/core/secret.ts'

const secret = new Secret('MARKED')

it.each([
  { how: 'a template', shown: `${secret}` },
  { how: 'String', shown: String(secret) },
  { how: 'joining', shown: [secret].join() },
  { how: 'JSON', shown: JSON.stringify({ secret }) },
  { how: 'inspect', shown: inspect({ secret }, { depth: Number.POSITIVE_INFINITY, showHidden: true }) },
  { how: 'inspect without its own form', shown: inspect(secret, { customInspect: false, showHidden: true }) },
  { how: 'format', shown: format('%s %o %O %j', secret, secret, secret, secret) },
])('a secret is not shown by $how', ({ shown }) => {
  expect(shown).not.toContain('MARKED')
})

it('a secret of a second copy of the package is one', async () => {
  const path = '../../src/core/secret.ts?second'
  const copy = await import(path)
  expect(copy.Secret).not.toBe(Secret)
  expect(new copy.Secret('MARKED')).toBeInstanceOf(Secret)
  for (const other of [undefined, null, 'MARKED', { reveal: () => 'MARKED' }]) expect(other).not.toBeInstanceOf(Secret)
})

it('a secret comes out where it is asked for', () => {
  expect(secret.reveal()).toBe('MARKED')
})
