import { describe, expect, it } from 'vitest'
import { parseMetadata } from '../../../src/metadata/typed/parse-metadata.ts'
import { faults } from '../parse.ts'
import { sampleInput, subscriptionId } from '../sample.ts'

const group = `/subscriptions/${subscriptionId}/resourceGroups/shop`
const namespaceId = `${group}/providers/Microsoft.EventGrid/namespaces/shop`
const { tenantId, clientId, clientSecret } = sampleInput
const bare = { deliveryMode: 'pull', namespaceTopic: `${namespaceId}/topics/orders` }
const samplePull = { ...bare, tenantId, clientId, clientSecret }

const pull = (extra: Record<string, unknown> = {}) => parseMetadata({ ...samplePull, ...extra }).pull

describe('pull delivery', () => {
  it('has the topic, and the defaults of the event subscription', () => {
    const { push: input, pull, output, warnings } = parseMetadata(samplePull)
    expect([input, output, warnings]).toEqual([undefined, undefined, []])
    expect(pull).toMatchObject({
      namespaceTopic: {
        ...{ id: bare.namespaceTopic, subscriptionId, resourceGroup: 'shop', namespaceId },
        ...{ namespace: 'shop', topic: 'orders' },
      },
      namespaceEndpoint: undefined,
      namespaceKey: undefined,
      forwardedScope: undefined,
      lockDurationSeconds: undefined,
      credential: { kind: 'clientSecret', tenantId, clientId },
      settings: { eventDeliverySchema: 'CloudEventSchemaV1_0' },
      handlerTimeoutMs: 25_000,
    })
  })

  it.each([
    ['lockDuration', '60s', { lockDurationSeconds: 60 }],
    ['lockDuration', '5m', { lockDurationSeconds: 300 }],
    ['handlerTimeout', '1h', { handlerTimeoutMs: 3_600_000 }],
    ['maxDeliveryAttempts', '10', { settings: { maxDeliveryAttempts: 10 } }],
    ['maxDeliveryAttempts', 'Default', { settings: { maxDeliveryAttempts: expect.any(Symbol) } }],
    ['eventDeliverySchema', 'default', { settings: { eventDeliverySchema: 'CloudEventSchemaV1_0' } }],
    ['eventSubscriptionName', 'a'.repeat(50), { eventSubscriptionName: 'a'.repeat(50) }],
    ['scope', group, { forwardedScope: { id: group } }],
    ['scope', bare.namespaceTopic.toUpperCase(), { forwardedScope: undefined }],
    ['scope', '/subscriptions/of-others', { forwardedScope: { subscriptionId: 'of-others' } }],
    ['namespaceEndpoint', 'https://Shop.example//', { namespaceEndpoint: 'https://shop.example' }],
    ['namespaceEndpoint', 'https://shop.example/a/', { namespaceEndpoint: 'https://shop.example/a' }],
    // Only a delivery carries a token that names the tenant.
    ['tenantId', 'contoso.example', { credential: { tenantId: 'contoso.example' } }],
  ])('takes %s %s', (name, value, expected) => {
    const given = { subscriptionId, deliveryAuthentication: 'entra', [name]: value }
    expect(pull(given)).toMatchObject(expected)
  })

  it.each([
    ['lockDuration', '59s', '60s to 300s'],
    ['lockDuration', '301s', '60s to 300s'],
    ['lockDuration', '90.5s', 'whole seconds'],
    ['handlerTimeout', '61m', '1h'],
    ['maxDeliveryAttempts', '11', '1 to 10'],
    ['maxEventsPerBatch', '10', 'not a setting of pull'],
    ['preferredBatchSizeInKilobytes', '10', 'not a setting of pull'],
    ['labels', 'default', 'not a setting of pull'],
    ['eventDeliverySchema', 'eventGridSchema', 'CloudEventSchemaV1_0'],
    ['eventSubscriptionName', 'a'.repeat(51), '3 to 50'],
    ['eventSubscriptionName', 'my-name', 'letters and digits alone where the binding creates'],
    ['namespaceTopic', group, 'resource id of a namespace topic'],
    ['namespaceTopic', namespaceId, 'resource id of a namespace topic'],
    ['namespaceTopic', `${group}/providers/Microsoft.EventGrid/topics/orders`, 'resource id of a namespace topic'],
    ['namespaceEndpoint', 'http://127.0.0.1', 'https'],
    ['namespaceEndpoint', 'https://shop.example?x=1', 'query'],
    ['namespaceKey', 'key\n', 'control character'],
    ['namespaceKey', 'key\u200b', 'ASCII'],
  ])('refuses %s %s alone', (name, value, rule) => {
    expect(faults({ ...samplePull, [name]: value })).toEqual([
      expect.objectContaining({ field: name, rule: expect.stringContaining(rule) }),
    ])
  })

  it.each([
    ['the topic alone', {}, ['tenantId', 'clientId', 'clientSecret'], 'no namespaceKey'],
    ['a key', { namespaceKey: 'k' }, ['tenantId', 'clientId', 'clientSecret'], 'no namespaceEndpoint'],
    [
      'a key, an endpoint and a part of a credential',
      { namespaceKey: 'k', namespaceEndpoint: 'https://shop.example', clientId },
      ['tenantId', 'clientSecret'],
      'with clientId',
    ],
  ])('asks for a credential with %s, and says why', (_name, fields, missing, why) => {
    const issues = faults({ ...bare, ...fields })
    expect(issues.map(({ field }) => field)).toEqual(missing)
    for (const { rule } of issues) expect(rule).toContain(why)
  })

  it('asks for no credential with a key and an endpoint, and has none', () => {
    const { pull } = parseMetadata({ ...bare, namespaceKey: 'k', namespaceEndpoint: 'https://shop.example' })
    expect(pull?.credential).toBeUndefined()
    expect(pull?.namespaceKey?.reveal()).toBe('k')
  })

  it('offers a managed identity for a client without a secret, and no delivery token', () => {
    const [issue] = faults({ ...bare, tenantId, clientId })
    expect(issue?.fix).toMatch(/or for a managed identity set azureCredential: managedIdentity$/)
  })

  it('asks for the topic', () => {
    const { namespaceTopic: _, ...rest } = samplePull
    expect(faults(rest)).toMatchObject([{ field: 'namespaceTopic', rule: 'is required with deliveryMode pull' }])
  })

  it('warns of the fields of push, and of these alone', () => {
    const { subscriberEndpoint, handshakePort, scope } = sampleInput
    const fields = { ...samplePull, subscriptionId, subscriberEndpoint, handshakePort, scope, maxConcurrency: '5' }
    const rule = 'has no effect with deliveryMode pull'
    expect(parseMetadata(fields).warnings).toEqual([
      { field: 'subscriberEndpoint', rule },
      { field: 'handshakePort', rule },
    ])
  })

  it('does not judge the values of the fields of push', () => {
    expect(faults({ ...samplePull, handshakePort: '0', topicEndpoint: 'x' })).toMatchObject([
      { field: 'accessKey' },
      { field: 'topicEndpoint' },
    ])
  })
})
