import { expect, it } from 'vitest'
import { BindingError, isBindingError } from '../../src/core/errors.ts'

it('is known across two copies of the package', async () => {
  const copy: typeof import('../../src/core/errors.ts') = await import(`../../src/core/errors.ts?copy=${'second'}`)
  expect(copy.BindingError).not.toBe(BindingError)
  expect(isBindingError(new copy.BindingError('CLOSED', { what: 'it is closed' }))).toBe(true)
})

it.each([
  { name: 'no error', given: { name: 'BindingError', code: 'CLOSED' } },
  { name: 'a class of the same name', given: Object.assign(new Error('x'), { name: 'BindingError', code: 'CLOSED' }) },
  { name: 'nothing', given: undefined },
])('takes $name for none of ours', ({ given }) => {
  expect(isBindingError(given)).toBe(false)
})

it('says code, what and fix in one message', () => {
  const error = new BindingError('SCOPE_NOT_FOUND', { what: 'no scope', fix: 'make it' })
  expect(error.message).toBe('SCOPE_NOT_FOUND: no scope; make it')
})
