import { describe, expect, it } from 'vitest'
import { metadataFields } from '../../../src/metadata/fields/find-field.ts'
import { readMetadata } from '../../../src/metadata/typed/parse-metadata.ts'
import { UnknownValue } from '../../../src/metadata/typed/read-properties.ts'
import { faults } from '../parse.ts'
import { sampleInput, sampleOutput } from '../sample.ts'

const deciding = metadataFields.filter(({ decides }) => decides).map(({ name }) => name)

/** Components that lack much, so that a wrong word could have many consequences. */
const components: readonly { readonly name: string; readonly fields: Record<string, unknown> }[] = [
  { name: 'nothing else', fields: {} },
  { name: 'a whole input', fields: sampleInput },
  { name: 'a whole output', fields: sampleOutput },
  { name: 'a part of pull', fields: { namespaceKey: 'key' } },
  { name: 'parts of both sides, and wrong values', fields: { handshakePort: '0', topicEndpoint: 'x', labels: ',' } },
]

describe.each(deciding)('a wrong value of %s', (decider) => {
  it.each(components)('is reported alone beside $name', ({ fields }) => {
    for (const value of ['pul', 'none of these', '[]', 7, ['x']]) {
      const issues = faults({ ...fields, direction: 'input, output', [decider]: value })
      expect(issues).toMatchObject([{ field: decider, value: expect.any(String) }])
    }
  })

  it('is reported alone where it is given twice', () => {
    const twice = { direction: 'input, output', [decider]: 'x', [decider.toUpperCase()]: 'y' }
    expect(new Set(faults(twice).map(({ field }) => field))).toEqual(new Set([decider]))
  })

  it('that is not known yet has no consequences', () => {
    const issues = readMetadata({ direction: 'input, output', [decider]: new UnknownValue() }).issues
    expect(issues).toEqual([])
  })
})

it.each(deciding)('a wrong value of %s is reported where no field says which side is meant', (decider) => {
  expect(faults({ [decider]: 'nonsense' })).toMatchObject([{ field: decider }])
})

it('does not judge a deciding field of a side that is not configured', () => {
  expect(
    faults({ ...sampleOutput, direction: 'output', deliveryMode: 'pul', labels: ',', accessKey: '' }),
  ).toMatchObject([{ field: 'accessKey' }])
})
