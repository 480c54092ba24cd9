import { expect, it } from 'vitest'
import { parseExactJson } from '../../../src/sidecar/replay/dead-letters.ts'

it.each([
  '1.0',
  '1E400',
  '-0',
  '9007199254740993',
  '12345678901234567',
  '[1.10,{"a":1e2}]',
  '{"n":1,"s":"1.0","t":true}',
])('gives back %s as it was written', (text) => expect(JSON.stringify(parseExactJson(text))).toBe(text))

it('gives a number that needs no care as a number', () => expect(parseExactJson('[1,-2.5]')).toEqual([1, -2.5]))

it('takes a thousand levels and no more', () => {
  const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)
  expect(parseExactJson(nested(1_000))).toBeInstanceOf(Array)
  expect(() => parseExactJson(nested(1_001))).toThrow(RangeError)
  expect(() => parseExactJson('[')).toThrow(SyntaxError)
})
