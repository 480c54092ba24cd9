import { describe, expect, it } from 'vitest'
import { parseMetadata } from '../../../src/metadata/typed/parse-metadata.ts'
import { faults, without } from '../parse.ts'
import { sampleInput, sampleOutput, subscriptionId } from '../sample.ts'

describe('required fields', () => {
  it.each(['', '   ', null, undefined])('counts the empty value %j as absent', (value) => {
    expect(faults({ ...sampleInput, scope: value })).toMatchObject([
      { field: 'scope', rule: 'is required on the input side' },
    ])
  })

  it('reports everything that a side lacks together', () => {
    const issues = faults({ scope: sampleInput.scope, topicEndpoint: sampleOutput.topicEndpoint })
    expect(issues.map(({ field }) => field)).toEqual([...Object.keys(without('scope')), 'accessKey'])
  })

  const namespace = {
    namespaceTopic: `/subscriptions/${subscriptionId}/resourceGroups/orders/providers/Microsoft.EventGrid/namespaces/shop/topics/orders`,
    namespaceEndpoint: 'https://shop.westeurope-1.eventgrid.azure.net',
    namespaceKey: 'marked-key',
  }

  it.each([{}, { deliveryMode: 'push' }])('asks for the fields of push with a namespace topic and %j', (mode) => {
    const names = faults({ ...namespace, ...mode }).map(({ field }) => field)
    expect(names).toEqual(Object.keys(sampleInput))
  })

  it('takes push delivery that has all its fields, and warns that namespaceTopic has no effect', () => {
    const { push: input, warnings } = parseMetadata({ ...sampleInput, ...namespace })
    expect(input).toBeDefined()
    expect(warnings).toContainEqual({ field: 'namespaceTopic', rule: 'has no effect with deliveryMode push' })
  })

  const kinds = ['managedIdentity', 'workloadIdentity', 'cli', 'default'] as const
  it.each(kinds)('lifts exactly the fields of the credential with azureCredential %s', (azureCredential) => {
    const issues = faults({ azureCredential, deliveryAuthentication: 'none', direction: 'input' })
    expect(issues.map(({ field }) => field)).toEqual(['subscriptionId', 'subscriberEndpoint', 'handshakePort', 'scope'])
  })

  it("lifts exactly the fields of the credential with the host's own", () => {
    const issues = faults({ deliveryAuthentication: 'none', direction: 'input, output' }, { credentialGiven: true })
    const left = ['subscriptionId', 'subscriberEndpoint', 'handshakePort', 'scope', 'accessKey', 'topicEndpoint']
    expect(issues.map(({ field }) => field)).toEqual(left)
  })

  it('lifts the access key alone with topicAuthentication entra', () => {
    const names = faults({ topicAuthentication: 'entra' }).map(({ field }) => field)
    expect(names).toEqual(['tenantId', 'clientId', 'clientSecret', 'topicEndpoint'])
  })

  it.each([
    ['tenantId', 'a/b'],
    ['clientSecret', 'ends with a line break\n'],
  ])('judges %s for the output with topicAuthentication entra', (name, value) => {
    const { tenantId, clientId, clientSecret } = sampleInput
    const output = { topicEndpoint: 'https://t.example.com/api/events', topicAuthentication: 'entra' }
    const issues = faults({ ...output, tenantId, clientId, clientSecret, [name]: value })
    expect(issues).toMatchObject([{ field: name, rule: expect.stringMatching(/^must/) }])
  })

  it('refuses plain http with topicAuthentication entra, together with all other faults', () => {
    const output = { topicEndpoint: 'HTTP://127.0.0.1:1', topicAuthentication: 'entra', topicSchema: 'x' }
    expect(faults({ ...sampleInput, ...output }).map(({ field, rule }) => [field, rule.split(':')[0]])).toEqual([
      ['topicEndpoint', 'must be https with topicAuthentication entra'],
      ['topicSchema', expect.any(String)],
    ])
  })

  it.each(kinds)('asks for no field of a credential for the output with azureCredential %s', (azureCredential) => {
    const fields = { topicEndpoint: 'https://t.example.com/api/events', topicAuthentication: 'entra', azureCredential }
    expect(parseMetadata(fields).output?.authentication).toMatchObject({ credential: { kind: azureCredential } })
  })

  it.each([
    { azureCredential: 'managedIdentity', hasTenant: false, hasClient: true },
    { azureCredential: 'workloadIdentity', hasTenant: true, hasClient: true },
    { azureCredential: 'cli', hasTenant: true, hasClient: false },
    { azureCredential: 'default', hasTenant: true, hasClient: true },
  ])('hands the fields on that a credential of the kind $azureCredential may have', (one) => {
    const { azureCredential, hasTenant, hasClient } = one
    const parsed = parseMetadata({ ...sampleInput, azureCredential })
    expect(parsed.push?.credential).toEqual({
      kind: azureCredential,
      ...(hasTenant && { tenantId: sampleInput.tenantId }),
      ...(hasClient && { clientId: sampleInput.clientId }),
    })
  })

  it("prefers the host's credential", () => {
    expect(parseMetadata(sampleInput, { credentialGiven: true }).push?.credential).toEqual({ kind: 'host' })
  })
})

describe('what to write', () => {
  const managed = 'or for a managed identity set azureCredential: managedIdentity'
  const secretOf = (name: string) => `write { name: ${name}, secretKeyRef: { name: event-grid, key: ${name} } }`
  const ofClient = `${secretOf('clientSecret')}, ${managed}`
  const bare = without('clientSecret')
  const { topicEndpoint } = sampleOutput

  it.each([
    ['a secret', bare, 'clientSecret', `${ofClient} and a deliveryToken`],
    ['a secret beside a delivery token', { ...bare, deliveryToken: 'x'.repeat(16) }, 'clientSecret', ofClient],
    ['a secret where deliveries have none', { ...bare, deliveryAuthentication: 'none' }, 'clientSecret', ofClient],
    [
      'a delivery token',
      { ...bare, azureCredential: 'cli' },
      'deliveryToken',
      `${secretOf('deliveryToken')}, or set deliveryAuthentication to entra`,
    ],
    ['what has an example', without('handshakePort'), 'handshakePort', 'write { name: handshakePort, value: "8080" }'],
    [
      'a field without one',
      { ...sampleInput, provisioning: 'none' },
      'eventSubscriptionName',
      'write { name: eventSubscriptionName, value: "…" }',
    ],
    ['a field of a side that is named', { topicEndpoint, direction: 'output' }, 'accessKey', secretOf('accessKey')],
  ])('is said for %s', (_name, fields, field, fix) => expect(faults(fields)).toMatchObject([{ field, fix }]))

  it('says nothing of the credential of a push that has a whole one, or of an output by its key', () => {
    expect(faults({ ...sampleInput, accessKey: 'k' }).map(({ field }) => field)).toEqual(['topicEndpoint'])
    expect(
      faults({ ...sampleOutput, direction: 'input, output', provisioning: 'none' }).map(({ field }) => field),
    ).toEqual([...['subscriberEndpoint', 'handshakePort', 'scope', 'eventSubscriptionName', 'deliveryToken']])
  })
})

describe('an empty field', () => {
  it('counts as absent: it is asked for where it is required, and no fault otherwise', () => {
    expect(faults({ ...sampleInput, clientSecret: '' })).toMatchObject([
      {
        field: 'clientSecret',
        rule: 'is required on the input side',
        fix: expect.stringMatching(/^write \{ name: clientSecret, /),
      },
    ])
    expect(faults({ ...without('scope'), deliveryToken: '' }).map(({ field }) => field)).toEqual(['scope'])
    expect(faults({ accessKey: '' })).toMatchObject([{ rule: 'configures neither the input nor the output side' }])
    expect(parseMetadata({ ...sampleInput, deliveryToken: '' }).push).toBeDefined()
  })
})
