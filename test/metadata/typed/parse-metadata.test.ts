import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import { parseMetadata } from '../../../src/metadata/typed/parse-metadata.ts'
import { thrownBy } from '../../support/thrown.ts'
import { faults, input, without } from '../parse.ts'
import { sampleInput, sampleOutput } from '../sample.ts'

describe('the credential of deliveries', () => {
  const sourcesOf = (properties: Record<string, unknown>) => {
    const authentication = input(properties)?.deliveryAuthentication
    return authentication?.kind === 'secret' ? authentication.sources.map((source) => source.reveal()) : undefined
  }

  it('is derived from clientSecret, else from every deliveryToken in its order', () => {
    const [next, last] = ['new-token-of-some-length', 'old-token-of-some-length']
    expect(sourcesOf({})).toEqual([sampleInput.clientSecret])
    expect(sourcesOf({ deliveryToken: `${next}, ${last}` })).toEqual([next, last])
  })

  it('needs deliveryToken where there is no clientSecret', () => {
    const bare = { ...without('clientSecret'), azureCredential: 'managedIdentity' }
    expect(faults(bare)).toMatchObject([{ field: 'deliveryToken', rule: expect.stringContaining('no clientSecret') }])
    expect(parseMetadata({ ...bare, deliveryToken: 'x'.repeat(16) }).push?.deliveryAuthentication.kind).toBe('secret')
  })

  it('is a token for the client of the tenant with entra', () => {
    expect(input({ deliveryAuthentication: 'Entra' })?.deliveryAuthentication).toEqual({
      kind: 'entra',
      tenantId: sampleInput.tenantId,
      clientId: sampleInput.clientId,
      eventGridClientId: '4962773b-9cdb-44cf-a8bf-237846a00ab7',
    })
  })

  it('needs tenantId and clientId with entra, whatever the credential', () => {
    const bare = without('tenantId', without('clientId'))
    const issues = faults({ ...bare, azureCredential: 'default', deliveryAuthentication: 'entra' })
    expect(issues.map(({ field, rule }) => [field, rule])).toEqual([
      ['tenantId', 'is required with deliveryAuthentication entra'],
      ['clientId', 'is required with deliveryAuthentication entra'],
    ])
  })

  it("takes Event Grid's client id with entra in a cloud where it is not known", () => {
    const fields = { azureEnvironment: 'AzureChinaCloud', deliveryAuthentication: 'entra', eventGridClientId: 'given' }
    expect(input(fields)?.deliveryAuthentication).toMatchObject({ kind: 'entra', eventGridClientId: 'given' })
  })
})

describe('bounds and secrets', () => {
  it('refuses more than 256 entries', () => {
    const many = Object.fromEntries(Array.from({ length: 257 }, (_, index) => [`x${index}`, '']))
    expect(faults({ ...sampleInput, ...many }).some(({ rule }) => rule.includes('256 entries'))).toBe(true)
  })

  it('refuses a value of over 65536 characters', () => {
    const [value] = faults({ ...sampleInput, subjectBeginsWith: 'v'.repeat(65_537) })
    expect(value?.rule).toContain('65536')
  })

  it('takes as many entries, and a value that is as long', () => {
    const longest = { subjectBeginsWith: 'v'.repeat(65_536) }
    const more = Array.from({ length: 256 - Object.keys({ ...sampleInput, ...longest }).length }, (_, n) => [
      `x${n}`,
      '',
    ])
    const fields = { ...sampleInput, ...longest, ...Object.fromEntries(more) }
    expect(input(fields)?.settings.subjectBeginsWith).toHaveLength(65_536)
    expect(parseMetadata(Object.entries(fields).map(([name, value]) => ({ name, value }))).push).toBeDefined()
  })

  it('names the component, and reports where each entry of a list stands', () => {
    const at = { file: 'f.yaml', line: 3, column: 5 }
    const list = [
      { name: 'scope', value: 'x', at },
      { name: 'SCOPE', value: 'y', at: { ...at, line: 4 } },
      { name: 'maxConcurency', value: '1', at: { ...at, line: 5 } },
      { name: 'maxConcurrency', value: ['1'], at: { ...at, line: 6 } },
    ]
    const error = thrownBy(() => parseMetadata(list, { componentName: 'orders' }))
    expect(error.message).toContain('the metadata of component "orders" is not valid')
    const lines = new Map(error.issues.map((issue) => [issue.rule, issue.at?.line]))
    expect([...lines].filter(([, line]) => line !== undefined)).toEqual([
      ['is given twice', 4],
      ['must start with a slash', 3],
      ['must be a string', 6],
      ['is not a field of this component', 5],
    ])
  })

  it('refuses list entries that are no entries, and references that nobody resolved', () => {
    const list: { name: string }[] = JSON.parse('[null, {"value":"x"}, {"name":"scope","secretKeyRef":{"name":"s"}}]')
    const rules = thrownBy(() => parseMetadata(list)).issues.map(({ rule }) => rule)
    expect(rules.slice(0, 2)).toEqual([expect.stringContaining('entry 1'), expect.stringContaining('entry 2')])
    expect(rules.join()).toContain('unresolved secretKeyRef')
  })

  it('never shows a secret, a query, user info or the value of an unknown name in an error or a warning', () => {
    const marked = {
      ...sampleInput,
      clientSecret: 'MARKED1\n',
      azureClientSecret: 'MARKED2',
      deliveryToken: 'MARKED3',
      accessKey: 'MARKED4\n',
      subscriberEndpoint: 'http://MARKED5:MARKED6@app.example/?code=MARKED7#MARKED8',
      topicEndpoint: 'https://MARKED:p?ss@host.example',
      clientSecrt: 'MARKED9',
    }
    const error = thrownBy(() => parseMetadata(marked))
    expect(error.issues.length).toBeGreaterThan(5)
    expect(`${error.stack}${inspect(error, { depth: null, showHidden: true })}${JSON.stringify(error)}`).not.toContain(
      'MARKED',
    )
    const parsed = parseMetadata({ ...sampleInput, ...sampleOutput, unknown: 'MARKED' })
    expect(`${inspect(parsed, { depth: null, showHidden: true })}${JSON.stringify(parsed)}`).not.toMatch(
      /MARKED|marked-/,
    )
  })
})
