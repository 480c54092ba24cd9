import { expect, it } from 'vitest'
import { nestsDeeper } from '../../../src/support/text/json-text.ts'

it.each([
  { text: '[[1]]', levels: 2, deeper: false },
  { text: '[{"a":[1]}]', levels: 2, deeper: true },
  { text: '["[[[[", "\\"[[["]', levels: 1, deeper: false },
  { text: '[[],[],[]]', levels: 2, deeper: false },
])('finds out whether $text nests deeper than $levels', ({ text, levels, deeper }) =>
  expect(nestsDeeper(Buffer.from(text), levels)).toBe(deeper),
)
