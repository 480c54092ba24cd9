import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { exactJson, maxDepth, parseJson } from '../../src/publisher/payload/exact-json.ts'
import { processorMs } from '../support/processor-time.ts'

const parseExactJson = (text: string) => exactJson(text, parseJson(text))

describe('a number in JSON text', () => {
  it.each([
    '12345678901234567890',
    '-9007199254740993',
    '0.1234567890123456789',
    '1e400',
    '123456789012345678901234567890.5e-3',
  ])('%s comes out as it went in, though JavaScript can not hold it', (number) => {
    const text = `{"a":[${number}],"b":"${number}"}`
    expect(JSON.stringify(parseExactJson(text))).toBe(text)
  })

  it.each(['1e5', '1.50e2', '0.0000000000000001', '9007199254740991', '100000000000000000000', '0e0', '5e-324'])(
    '%s, which JavaScript holds, is a plain number',
    (number) => {
      expect(parseExactJson(`[${number}]`)).toEqual([Number(number)])
    },
  )
})

it.each([
  { name: 'zeros between two digits', number: `1${'0'.repeat(500_000)}1` },
  { name: 'zeros behind the point', number: `0.${'0'.repeat(500_000)}1` },
  { name: 'digits only', number: '7'.repeat(500_000) },
])('reads a number of half a million digits at a small cost: $name', async ({ number }) => {
  const cost = await processorMs(() => {
    expect(JSON.stringify(parseExactJson(`[${number}]`))).toBe(`[${number}]`)
  })
  expect(cost).toBeLessThan(1_000)
})

describe('JSON text', () => {
  it('means what JSON.parse makes of it', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 6 }), (text) => {
        expect(JSON.stringify(parseExactJson(text))).toBe(JSON.stringify(JSON.parse(text)))
      }),
    )
  })

  it('may nest as deep as the limit, whatever brackets its strings hold', () => {
    const text = `${'['.repeat(maxDepth)}${JSON.stringify('[{\\"['.repeat(2_000))}${']'.repeat(maxDepth)}`
    expect(JSON.stringify(parseExactJson(text))).toBe(text)
  })

  it.each(['[', '{"a":'])('that nests one level more by %s is a RangeError', (open) => {
    const text = `${open.repeat(maxDepth + 1)}1${(open === '[' ? ']' : '}').repeat(maxDepth + 1)}`
    expect(() => parseExactJson(text)).toThrow(RangeError)
  })

  it('keeps a member called __proto__ as data', () => {
    const text = '{"__proto__":{"a":12345678901234567890}}'
    expect(JSON.stringify(parseExactJson(text))).toBe(text)
  })
})
