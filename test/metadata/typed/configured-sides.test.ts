import { describe, expect, it } from 'vitest'
import { parseMetadata } from '../../../src/metadata/typed/parse-metadata.ts'
import { faults } from '../parse.ts'
import { sampleInput, sampleOutput } from '../sample.ts'

describe('sides', () => {
  it('configures both in one component', () => {
    const { push: input, output } = parseMetadata({ ...sampleInput, ...sampleOutput })
    expect([input?.handshakePort, output?.authentication.kind]).toEqual([9000, 'accessKey'])
  })

  it('refuses metadata that configures neither side, naming what each needs', () => {
    const [issue, ...rest] = faults({ azureEnvironment: 'AzurePublicCloud' })
    expect(rest).toEqual([])
    expect(issue?.rule).toContain('neither')
    expect(issue?.fix).toContain('handshakePort')
    expect(issue?.fix).toContain('accessKey')
  })

  it.each([
    { direction: 'input', sides: [true, false] },
    { direction: 'OUTPUT', sides: [false, true] },
    { direction: 'input, output', sides: [true, true] },
    { direction: 'output,input', sides: [true, true] },
    { direction: '["output", "input"]', sides: [true, true] },
  ])('lets direction "$direction" alone decide', ({ direction, sides }) => {
    const { push: input, output } = parseMetadata({ ...sampleInput, ...sampleOutput, direction })
    expect([input !== undefined, output !== undefined]).toEqual(sides)
  })

  it('does not judge the fields of a side that direction leaves out', () => {
    expect(
      parseMetadata({ ...sampleOutput, direction: 'output', handshakePort: 99_999, scope: 'x' }).push,
    ).toBeUndefined()
  })

  it('requires the fields of a side that direction names although none of them is there', () => {
    expect(faults({ ...sampleOutput, direction: 'input, output' }).map(({ field }) => field)).toEqual(
      Object.keys(sampleInput),
    )
  })

  it('refuses another direction', () => {
    expect(faults({ ...sampleOutput, direction: 'sideways' })).toMatchObject([
      { field: 'direction', value: '"sideways"' },
    ])
  })

  it('lets the fields of the credential configure no side with topicAuthentication entra', () => {
    const { tenantId, clientId, clientSecret } = sampleInput
    const { push: input, output } = parseMetadata({
      tenantId,
      clientId,
      clientSecret,
      topicAuthentication: 'entra',
      topicEndpoint: sampleOutput.topicEndpoint,
    })
    expect(input).toBeUndefined()
    expect(output?.authentication).toMatchObject({
      kind: 'entra',
      credential: { kind: 'clientSecret', tenantId, clientId },
    })
  })
})
