import { expect, it } from 'vitest'
import { nestsDeeper } from '../../src/listener/nesting.ts'

it.each([
  { text: '1', depth: 0 },
  { text: '"[[[["', depth: 0 },
  { text: 'null', depth: 0 },
  { text: '{}', depth: 1 },
  { text: '[]', depth: 1 },
  { text: '{"a":{"b":[]}}', depth: 3 },
  { text: '{"a":[1,[2],[[3]]],"b":"[[[[["}', depth: 4 },
  { text: '{"__proto__":{"constructor":{}}}', depth: 3 },
])('$text nests $depth levels deep', ({ text, depth }) => {
  const value: unknown = JSON.parse(text)
  expect(nestsDeeper(value, depth)).toBe(false)
  if (depth > 0) expect(nestsDeeper(value, depth - 1)).toBe(true)
})

it('looks no deeper than it has to', () => {
  const value: unknown = JSON.parse('['.repeat(100_000) + ']'.repeat(100_000))
  expect(nestsDeeper(value, 128)).toBe(true)
})
