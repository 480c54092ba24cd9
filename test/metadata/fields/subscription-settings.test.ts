import { expect, it } from 'vitest'
import { BrokenRule } from '../../../src/metadata/fields/faults.ts'
import { parseAdvancedFilters } from '../../../src/metadata/fields/subscription-settings.ts'

const key = 'data.n'
const texts = ['a', '']
const parse = (...filters: readonly object[]) => parseAdvancedFilters(JSON.stringify(filters))

it.each([
  ['NumberIn', { values: [1, 2.5] }],
  ['NumberNotIn', { values: [1] }],
  ['NumberInRange', { values: [[1, 1]] }],
  ['NumberNotInRange', { values: [[-1, 2]] }],
  ['NumberLessThan', { value: 1 }],
  ['NumberLessThanOrEquals', { value: 1 }],
  ['NumberGreaterThan', { value: 1 }],
  ['NumberGreaterThanOrEquals', { value: 1 }],
  ['BoolEquals', { value: false }],
  ['StringIn', { values: texts }],
  ['StringNotIn', { values: texts }],
  ['StringBeginsWith', { values: texts }],
  ['StringNotBeginsWith', { values: texts }],
  ['StringEndsWith', { values: texts }],
  ['StringNotEndsWith', { values: texts }],
  ['StringContains', { values: texts }],
  ['StringNotContains', { values: ['x'.repeat(512)] }],
  ['IsNullOrUndefined', {}],
  ['IsNotNull', {}],
])('takes %s with its own operands, in any letter case, and refuses it with others', (operatorType, operands) => {
  expect(parse({ operatorType: operatorType.toUpperCase(), key, ...operands })).toEqual([
    { operatorType, key, ...operands },
  ])
  for (const other of [{ value: 'x' }, { values: [null] }, { ...operands, more: 1 }])
    expect(() => parse({ operatorType, key, ...other })).toThrow(BrokenRule)
})

it('takes 25 filters, and 25 values in them together', () => {
  expect(parse(...Array(25).fill({ operatorType: 'BoolEquals', key, value: true }))).toHaveLength(25)
  expect(parse({ operatorType: 'NumberIn', key, values: Array(25).fill(1) })).toHaveLength(1)
  const rule = expect.stringContaining('25 values')
  const all = [
    { operatorType: 'NumberIn', key, values: Array(25).fill(1) },
    { operatorType: 'IsNotNull', key },
  ]
  expect(parse(...all)).toHaveLength(2)
  expect(() => parse(...all, { operatorType: 'BoolEquals', key, value: true })).toThrow(
    expect.objectContaining({ rule }),
  )
})

it.each([
  [{ operatorType: 'StringIm', key, values: ['a'] }, /^\[1\]\.operatorType must be one of /, 'did you mean StringIn?'],
  [{ operatorType: 'StringIn', key, values: ['a', 1] }, /^\[1\]\.values\[1\]: .*expected string/, undefined],
  [{ operatorType: 'StringIn', key, values: [] }, /^\[1\]\.values: .*>=1 items/, undefined],
  [{ operatorType: 'NumberIn', key, values: Array(26).fill(1) }, /^\[1\]\.values: .*<=25 items/, undefined],
  [{ operatorType: 'IsNotNull', key: 'x'.repeat(513) }, /^\[1\]\.key: .*<=512 characters/, undefined],
  [{ operatorType: 'IsNotNull', key, value: 1 }, /^\[1\]: .*"value"/, undefined],
  [{ operatorType: 'NumberInRange', key, values: [[2, 1]] }, /^\[1\]\.values\[0\]: must be \[low, high\]/, undefined],
  [{ operatorType: 'IsNotNull', key, 'a\nb': 1 }, /^\[1\]: .*"a b"$/, undefined],
  [{ operatorType: 5, key }, /^\[1\] must be an object with an operatorType$/, undefined],
])('says of %j which filter is wrong and how', (filter, rule, fix) => {
  const call = () => parse({ operatorType: 'IsNotNull', key }, filter)
  expect(call).toThrow(expect.objectContaining({ rule: expect.stringMatching(rule), fix }))
})

it('says what takes the place of an empty list', () => {
  expect(() => parse()).toThrow(expect.objectContaining({ fix: 'write default to have none' }))
})
