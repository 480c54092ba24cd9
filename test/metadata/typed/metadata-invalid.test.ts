import { expect, it } from 'vitest'
import { describeIssue, describeIssues, metadataInvalid } from '../../../src/metadata/fields/faults.ts'
import { place } from '../../support/place.ts'

const at = place('f.yaml:3:5')
const fault = { field: 'scope', rule: 'must start with a slash' }

it.each([
  [{ rule: 'is empty' }, 'is empty'],
  [fault, 'scope must start with a slash'],
  [{ ...fault, at, value: '"x"', fix: 'write one' }, 'f.yaml:3:5: scope must start with a slash (got "x"); write one'],
])('says what is wrong and where: %j', (issue, text) => expect(describeIssue(issue)).toBe(text))

it('has one fault in the line of its subject, and several in a list', () => {
  expect(metadataInvalid('it is not valid', [fault]).what).toBe('it is not valid: scope must start with a slash')
  const { what, issues } = metadataInvalid('it is not valid', [fault, { rule: 'is empty' }])
  expect(what).toBe('it is not valid:\n- scope must start with a slash\n- is empty')
  expect(issues).toHaveLength(2)
})

it('shows the line of a place below the last fault that it has', () => {
  const issues = [{ ...fault, at }, { rule: 'is empty', at }, { rule: 'is wrong', at: place('f.yaml:3:9') }, fault]
  const lines = describeIssues(issues, ({ line, column }) =>
    column === 9 ? undefined : `excerpt of ${line}:${column}`,
  )
  expect(lines).toEqual([
    'f.yaml:3:5: scope must start with a slash',
    'f.yaml:3:5: is empty\nexcerpt of 3:5',
    'f.yaml:3:9: is wrong',
    'scope must start with a slash',
  ])
})
