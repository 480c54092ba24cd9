import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { Binding, parseComponents } from '../../../src/index.ts'
import { thrownBy } from '../../support/thrown.ts'
import { faults, without } from '../parse.ts'
import { sampleInput, sampleOutput } from '../sample.ts'

const secrets = { 'event-grid': { accessKey: 'a2V5' } }

const refusalOf = (yaml: string) => thrownBy(() => parseComponents(yaml, { secrets, file: 'orders.yaml' }))

describe('a component that only publishes', () => {
  it('with some input fields is refused, with the one line that it lacks', async () => {
    const text = readFileSync(resolve(import.meta.dirname, '../../fixtures/components/partial-input.yaml'), 'utf8')
    const { message, issues } = refusalOf(text)
    expect(message).toContain('direction: output')
    expect(issues.map(({ field }) => field)).toEqual([
      ...['tenantId', 'subscriptionId', 'clientId', 'clientSecret', 'scope', 'direction'],
    ])
    const repaired = `${text}    - { name: direction, value: output }\n`
    const [component] = parseComponents(repaired, { secrets })
    await using binding = new Binding()
    await binding.init(component)
    expect(Object.keys(binding.health())).toEqual(['status', 'output'])
  })

  it.each([
    { name: 'an output that is not whole', fields: { accessKey: 'k', handshakePort: '9000' } },
    { name: 'a wrong topic', fields: { ...sampleOutput, topicEndpoint: 'x', handshakePort: '9000' } },
    { name: 'a whole input', fields: { ...sampleInput, accessKey: 'k' } },
    { name: 'a direction', fields: { ...sampleOutput, direction: 'input, output' } },
  ])('is not meant with $name', ({ fields }) => {
    expect(faults(fields).map(({ field }) => field)).not.toContain('direction')
  })
})

describe('a client id without a secret', () => {
  it('gets the way out of a managed identity', () => {
    const text = readFileSync(resolve(import.meta.dirname, '../../fixtures/components/client-id-alone.yaml'), 'utf8')
    const { issues } = refusalOf(text)
    expect(issues).toMatchObject([
      { field: 'clientSecret', fix: expect.stringMatching(/azureCredential: managedIdentity and a deliveryToken/) },
    ])
    const more = ['azureCredential, value: managedIdentity', 'deliveryToken, value: "0123456789abcdef"']
    const repaired = `${text}${more.map((entry) => `    - { name: ${entry} }\n`).join('')}`
    expect(parseComponents(repaired)[0]?.properties).toMatchObject({ azureCredential: 'managedIdentity' })
    expect(faults({ ...without('clientSecret'), azureCredential: 'x' })).toMatchObject([{ field: 'azureCredential' }])
  })

  it('of an output needs no delivery token for it', () => {
    const { tenantId, clientId } = sampleInput
    const { topicEndpoint } = sampleOutput
    const [issue] = faults({ topicAuthentication: 'entra', topicEndpoint, tenantId, clientId })
    expect(issue?.fix).toMatch(/azureCredential: managedIdentity$/)
  })
})
