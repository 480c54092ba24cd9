import { describe, expect, it } from 'vitest'
import { Secret } from '../../../src/core/secret.ts'
import { parseMetadata } from '../../../src/metadata/typed/parse-metadata.ts'
import { faults, input } from '../parse.ts'
import { sampleInput, sampleOutput } from '../sample.ts'

describe('values', () => {
  it.each([true, 12, [], {}])('refuses the secret %j, which is no string, without showing it', (value) => {
    expect(faults({ ...sampleInput, clientSecret: value })).toMatchObject([
      { field: 'clientSecret', value: '(redacted)', rule: 'must be a string' },
    ])
  })

  it('takes a Secret for a text', () => {
    const { input } = parseMetadata({
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

  it('takes port 0 where any port will do', () => {
    expect(parseMetadata({ ...sampleInput, handshakePort: '0' }, { allowAnyPort: true }).input?.handshakePort).toBe(0)
  })

  it('reports a fault in a field that both sides share once', () => {
    expect(faults({ ...sampleInput, ...sampleOutput, azureEnvironment: 'Moon' })).toHaveLength(1)
  })
})
