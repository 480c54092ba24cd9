import { describe, expect, it } from 'vitest'
import { decidePut } from '../../src/provision/decide/decide-put.ts'

const rules = {
  refusalOf: () => undefined,
  merge: (before: Readonly<Record<string, unknown>>) => ({ ...before, filter: {}, labels: [] }),
}

describe('an event subscription that is written whole', () => {
  it.each([{ filter: null }, {}, { filter: {} }, { filter: { subjectBeginsWith: '', includedEventTypes: null } }])(
    'is kept where ARM shows %j for no filter',
    (shown) => {
      expect(decidePut({ ...shown, provisioningState: 'Succeeded' }, rules)).toEqual({ action: 'keep' })
    },
  )

  it('is written where a filter has to go, and says which field differs', () => {
    const existing = { filter: { subjectBeginsWith: 'a' }, provisioningState: 'Succeeded' }
    expect(decidePut(existing, rules)).toMatchObject({ action: 'put', because: 'other filter.subjectBeginsWith' })
  })
})
