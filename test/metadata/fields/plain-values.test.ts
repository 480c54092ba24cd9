import { describe, expect, it } from 'vitest'
import { parseChoice, parseDuration, parseInteger, parseList } from '../../../src/metadata/fields/rules.ts'

const broken = (rule: string, fix?: string) => expect.objectContaining({ rule: expect.stringContaining(rule), fix })

describe('a word', () => {
  it('comes out as we spell it', () => expect(parseChoice('ONE', ['one', 'two'])).toBe('one'))

  it.each([
    ['tow', ['one', 'two'], 'must be one of one, two', 'did you mean two?'],
    ['other', ['one', 'two'], 'must be one of one, two', undefined],
    ['x', ['single'], 'must be single', undefined],
  ])('%s is refused with the words there are', (text, words, rule, fix) =>
    expect(() => parseChoice(text, words)).toThrow(broken(rule, fix)),
  )
})

describe('a whole number', () => {
  it.each([
    ['0', 0],
    ['10', 10],
    ['999', 999],
  ])('%s is taken', (text, expected) => expect(parseInteger(text, 0, 999)).toBe(expected))

  it.each(['', ' 1', '-1', '+1', '01', '1.0', '1e1', '1000', '1 ', 'a1'])('%j is refused', (text) =>
    expect(() => parseInteger(text, 0, 999)).toThrow(broken('must be a whole number from 0 to 999')),
  )
})

describe('a list', () => {
  it.each([
    ['a', ['a']],
    [' a , b ', ['a', 'b']],
    [' ["a,b", " c "]', ['a,b', ' c ']],
  ])('%j is taken', (text, expected) => expect(parseList(text)).toEqual(expected))

  it.each([
    ['', 'must not hold an empty item', undefined],
    ['a,', 'must not hold an empty item', undefined],
    ['["a",""]', 'must not hold an empty item', undefined],
    ['[]', 'must hold at least one item', 'leave the field out instead'],
    ['[1]', 'must be a JSON array of strings', 'write it like ["one", "two"] or one,two'],
    ['[a', 'must be a JSON array of strings', 'write it like ["one", "two"] or one,two'],
  ])('%j is refused', (text, rule, fix) => expect(() => parseList(text)).toThrow(broken(rule, fix)))
})

describe('a duration', () => {
  const limits = { atLeast: '100ms', atMost: '2h' }

  it.each([
    ['100ms', 100],
    ['1s', 1_000],
    ['1.5s', 1_500],
    ['1m', 60_000],
    ['1h30m5s7ms', 5_405_007],
    ['0.5m', 30_000],
    ['100.4ms', 100],
    ['2h', 7_200_000],
  ])('%s is taken', (text, expected) => expect(parseDuration(text, limits)).toBe(expected))

  it.each([
    ['99ms', undefined],
    ['2h1ms', undefined],
    ['', 'write a number with its unit, as in "2h"'],
    ['s', 'write a number with its unit, as in "2h"'],
    ['1d', 'write a number with its unit, as in "2h"'],
    ['x1s', 'write a number with its unit, as in "2h"'],
    ['1sx', 'write a number with its unit, as in "2h"'],
    ['-1s', 'write a number with its unit, as in "2h"'],
    ['1.s', 'write a number with its unit, as in "2h"'],
    ['5', 'write a number with its unit, as in "2h"'],
    ['0.5', 'write a number with its unit, as in "2h"'],
    ['99999999', 'write a number with its unit, as in "2h"'],
  ])('%j is refused', (text, fix) =>
    expect(() => parseDuration(text, limits)).toThrow(broken('must be a duration of 100ms to 2h', fix)),
  )

  it.each([
    { wholes: 'seconds', text: '90.5s', rule: 'whole seconds, 1s to 2h', fix: undefined },
    { wholes: 'seconds', text: '90', rule: 'whole seconds, 1s to 2h', fix: 'write a number with its unit, as in "2h"' },
    { wholes: 'minutes', text: '90s', rule: 'whole minutes, 1s to 2h', fix: undefined },
  ] as const)('of whole $wholes is not $text', ({ wholes, text, rule, fix }) =>
    expect(() => parseDuration(text, { atLeast: '1s', atMost: '2h', wholes })).toThrow(broken(rule, fix)),
  )
})
