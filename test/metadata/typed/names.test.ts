import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { everyFieldName, findField } from '../../../src/metadata/fields/find-field.ts'
import { parseMetadata } from '../../../src/metadata/typed/parse-metadata.ts'
import { thrownBy } from '../../support/thrown.ts'
import { faults, without } from '../parse.ts'
import { sampleInput } from '../sample.ts'

describe('names', () => {
  it('match without regard to case, whatever the letters', () => {
    const anyCase = fc
      .tuple(fc.constantFrom(...everyFieldName), fc.infiniteStream(fc.boolean()))
      .map(([name, upper]) => {
        const letters = [...name].map((letter) => (upper.next().value ? letter.toUpperCase() : letter.toLowerCase()))
        return [name, letters.join('')] as const
      })
    fc.assert(fc.property(anyCase, ([name, spelled]) => findField(spelled)?.name === findField(name)?.name))
  })

  it.each([
    ['azureTenantId', 'tenantId'],
    ['azureClientId', 'clientId'],
    ['azureClientSecret', 'clientSecret'],
    ['azureSubscriptionId', 'subscriptionId'],
  ])('takes %s for %s', (alias, name) => {
    const value = Object.entries(sampleInput).find(([key]) => key === name)?.[1]
    expect(parseMetadata({ ...without(name), [alias]: value })).toEqual(parseMetadata(sampleInput))
  })

  it('accepts a field beside its alias with the same value', () => {
    expect(parseMetadata({ ...sampleInput, azureTenantId: sampleInput.tenantId }).warnings).toEqual([])
  })

  it('refuses a field beside its alias with another value', () => {
    const issues = faults({ ...sampleInput, azureClientSecret: 'another-secret' })
    expect(issues).toMatchObject([{ field: 'clientSecret', rule: expect.stringContaining('different values') }])
  })

  it.each([
    { name: 'in two letter cases', properties: { ...sampleInput, SCOPE: sampleInput.scope } },
    {
      name: 'and once more, which is told once',
      properties: { ...sampleInput, SCOPE: sampleInput.scope, Scope: sampleInput.scope },
    },
    {
      name: 'in two entries of a list',
      properties: [...Object.entries(sampleInput), ['scope', sampleInput.scope]].map(([name = '', value]) => ({
        name,
        value,
      })),
    },
  ])('refuses a field given twice $name', ({ properties }) => {
    expect(thrownBy(() => parseMetadata(properties)).issues).toMatchObject([{ field: 'scope', rule: 'is given twice' }])
  })

  it('takes a list of entries as it takes a record', () => {
    const list = Object.entries(sampleInput).map(([name, value]) => ({ name, value }))
    expect(parseMetadata(list)).toEqual(parseMetadata(sampleInput))
  })

  it('warns of an unknown name with what was probably meant', () => {
    const { warnings } = parseMetadata({ ...sampleInput, maxConcurency: '5' })
    const rule = 'is not a field of this component'
    expect(warnings).toEqual([{ field: '"maxConcurency"', rule, fix: 'did you mean maxConcurrency?' }])
  })

  it.each(['direction', 'route', 'ROUTE'])("does not warn of Dapr's own %s", (name) => {
    expect(parseMetadata({ ...sampleInput, [name]: 'input' }).warnings).toEqual([])
  })

  it('names the field that was probably meant, beside the one that is missing', () => {
    const [missing, unknown] = faults({ ...without('handshakePort'), handshakPort: '9000' })
    expect(missing).toMatchObject({ field: 'handshakePort', rule: 'is required on the input side' })
    expect(unknown).toMatchObject({ field: '"handshakPort"', fix: 'did you mean handshakePort?' })
  })

  it.each(['__proto__', 'constructor', 'toString'])('takes the prototype key %s for a plain unknown name', (name) => {
    const properties = Object.fromEntries([...Object.entries(sampleInput), [name, 'x']])
    expect(parseMetadata(properties).warnings).toMatchObject([
      { field: `"${name}"`, rule: expect.stringContaining('is not a field') },
    ])
  })

  it('takes any name without a crash, and any unknown one as a warning', () => {
    fc.assert(
      fc.property(fc.string(), fc.string({ minLength: 1 }), (name, value) => {
        fc.pre(!findField(name) && name.toLowerCase() !== 'route' && value.trim() !== '')
        const properties = Object.fromEntries([...Object.entries(sampleInput), [name, value]])
        return parseMetadata(properties).warnings.length === 1
      }),
    )
  })
})
