import { describe, expect, it } from 'vitest'
import { credentialProblems, faultFields, faultInWords } from '../../src/listener/credential-fault.ts'

const remedied = ['issuer', 'tenant', 'caller', 'audience', 'expired', 'not_yet_valid', 'keys_unavailable']

describe('why a credential is not accepted', () => {
  it.each(credentialProblems)('has a reason, and a remedy where the operator has one: %s', (problem) => {
    const { reason, remedy, ...others } = faultFields({ problem })
    expect(reason).toMatch(/^(it|its|the) /)
    expect(typeof remedy).toBe(remedied.includes(problem) ? 'string' : 'undefined')
    expect(others).toEqual({})
    expect(faultInWords({ problem })).toBe(remedy === undefined ? reason : `${reason}; ${remedy}`)
  })

  it('has the fields that are known, and no other', () => {
    const { reason } = faultFields({ problem: 'absent' })
    expect(faultFields({ problem: 'absent' })).toEqual({ reason })
    const given = { claim: 'aud', expected: 'a', came: 'b' }
    expect(faultFields({ problem: 'absent', ...given, detail: 'no answer' })).toEqual({
      ...{ reason: `${reason}: no answer`, ...given },
    })
  })

  it.each([
    { came: 'b', says: ' (aud is b; expected: a); ' },
    { came: undefined, says: ' (aud is missing; expected: a); ' },
  ])('compares a claim in words: $came', ({ came, says }) => {
    const fault = { problem: 'audience', claim: 'aud', expected: 'a', ...(came !== undefined && { came }) } as const
    const { reason, remedy } = faultFields(fault)
    expect(faultInWords(fault)).toBe(`${reason}${says}${remedy}`)
  })
})
