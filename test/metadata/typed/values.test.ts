import { describe, expect, it } from 'vitest'
import { Secret } from '../../../src/core/secret.ts'
import { parseMetadata } from '../../../src/metadata/typed/parse-metadata.ts'
import { faults, input } from '../parse.ts'
import { sampleInput, sampleOutput, storageAccount } from '../sample.ts'

describe('values', () => {
  it.each([true, 12, [], {}])('refuses the secret %j, which is no string, without showing it', (value) => {
    expect(faults({ ...sampleInput, clientSecret: value })).toMatchObject([
      { field: 'clientSecret', value: '(redacted)', rule: 'must be a string' },
    ])
  })

  it('takes a Secret for a text', () => {
    const { push: input } = parseMetadata({
      ...sampleInput,
      clientSecret: new Secret('hidden'),
      handshakePort: new Secret('80'),
    })
    expect(input?.handshakePort).toBe(80)
    expect(input?.credential?.kind === 'clientSecret' && input.credential.clientSecret.reveal()).toBe('hidden')
  })

  it('trims a value, but not a secret', () => {
    const parsed = input({ handshakePort: ' 9000\n', clientSecret: ' s ' })
    expect(parsed?.handshakePort).toBe(9000)
    expect(parsed?.credential?.kind === 'clientSecret' && parsed.credential.clientSecret.reveal()).toBe(' s ')
  })

  it.each([
    'http://localhost:80/x',
    'http://127.0.0.1:8080',
    'http://[::1]/api/events',
    'https://t.example/api/events?k=1',
  ])('takes the topic endpoint %s as it is given', (topicEndpoint) =>
    expect(parseMetadata({ ...sampleOutput, topicEndpoint }).output).toMatchObject({
      topicEndpoint,
      topicSchema: 'auto',
    }),
  )

  it.each([
    ['https://app.example', 'https://app.example/api/events'],
    ['HTTPS://App.Example/', 'https://app.example/api/events'],
    ['https://app.example?code=1', 'https://app.example/api/events?code=1'],
    ['https://app.example:8443/hooks/in?code=1', 'https://app.example:8443/hooks/in?code=1'],
  ])('takes the subscriber endpoint %s for %s', (subscriberEndpoint, expected) =>
    expect(input({ subscriberEndpoint })?.subscriberEndpoint).toBe(expected),
  )

  const [shortest, longest] = ['t'.repeat(16), 't'.repeat(1_024)]
  it.each([
    ['handshakePort', '1', { handshakePort: 1 }],
    ['handshakePort', '65535', { handshakePort: 65_535 }],
    ['tenantId', 't'.repeat(253), { credential: { tenantId: 't'.repeat(253) } }],
    ['clientId', 'c'.repeat(256), { clientId: 'c'.repeat(256) }],
    ['clientSecret', ' ä\u00a0', { credential: { kind: 'clientSecret' } }],
    ['deadLetterContainer', 'a-1', { settings: { deadLetter: { container: 'a-1' } } }],
    ['deadLetterContainer', 'a'.repeat(63), { settings: { deadLetter: { container: 'a'.repeat(63) } } }],
    ['maxDeliveryAttempts', '30', { settings: { maxDeliveryAttempts: 30 } }],
    ['maxEventsPerBatch', '5000', { settings: { maxEventsPerBatch: 5_000 } }],
    ['preferredBatchSizeInKilobytes', '1024', { settings: { preferredBatchSizeInKilobytes: 1_024 } }],
    ['eventTimeToLive', '1m', { settings: { eventTimeToLiveMinutes: 1 } }],
    ['eventTimeToLive', '24h', { settings: { eventTimeToLiveMinutes: 1_440 } }],
    ['maxConcurrency', '10000', { maxConcurrency: 10_000 }],
    ['maxRequestBytes', '67108864', { maxRequestBytes: 67_108_864 }],
    ['handlerTimeout', '1ms', { handlerTimeoutMs: 1 }],
    ['subscriptionTimeout', '24h', { subscriptionTimeoutMs: 86_400_000 }],
    ['listenAddress', '::1', { listenAddress: '::1' }],
    ['replaceDestination', 'False', { replaceDestination: false }],
    ['deliveryToken', shortest, { deliveryAuthentication: { sources: { length: 1 } } }],
    ['deliveryToken', longest, { deliveryAuthentication: { sources: { length: 1 } } }],
    ['deliveryToken', Array(10).fill(shortest).join(), { deliveryAuthentication: { sources: { length: 10 } } }],
  ])('takes %s %.20s', (name, value, expected) => {
    const deadLetterStorageAccountId = name === 'deadLetterContainer' ? storageAccount : undefined
    expect(input({ deadLetterStorageAccountId, [name]: value })).toMatchObject(expected)
  })

  it.each([
    ['publishTimeout', '1s', { publishTimeoutMs: 1_000 }],
    ['publishTimeout', '10m', { publishTimeoutMs: 600_000 }],
    ['topicSchema', 'eventgridschema', { topicSchema: 'EventGridSchema' }],
  ])('takes %s %s of the output', (name, value, expected) => {
    expect(parseMetadata({ ...sampleOutput, [name]: value }).output).toMatchObject({
      ...{ publishTimeoutMs: 60_000, topicSchema: 'auto' },
      ...expected,
    })
  })

  it('lets a topic of a namespace have CloudEvents alone', () => {
    const topic = { ...sampleOutput, topicEndpoint: 'https://shop.example/topics/orders:publish' }
    expect(parseMetadata(topic).output?.topicSchema).toBe('CloudEventSchemaV1_0')
    expect(faults({ ...topic, topicSchema: 'EventGridSchema' })).toMatchObject([
      { field: 'topicSchema', fix: 'take topicSchema out' },
    ])
  })

  it('takes port 0 where any port will do', () => {
    expect(parseMetadata({ ...sampleInput, handshakePort: '0' }, { allowAnyPort: true }).push?.handshakePort).toBe(0)
  })

  it('reports a fault in a field that both sides share once', () => {
    expect(faults({ ...sampleInput, ...sampleOutput, azureEnvironment: 'Moon' })).toHaveLength(1)
  })
})
