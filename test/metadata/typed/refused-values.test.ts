import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BindingError } from '../../../src/core/errors.ts'
import { metadataFields } from '../../../src/metadata/fields/find-field.ts'
import { parseMetadata } from '../../../src/metadata/typed/parse-metadata.ts'
import { faults } from '../parse.ts'
import { sampleInput, sampleOutput, storageAccount, subscriptionId } from '../sample.ts'

/** The tables of the parsers in test/metadata/fields have the other ways to break their rules. */
describe('a value that breaks the rule of its field alone', () => {
  const key = 'k'
  const filters = (...list: unknown[]) => JSON.stringify(list)
  it.each(
    [
      ['handshakePort', '0', 'a port'],
      ['handshakePort', '65536', 'a port'],
      ['tenantId', 'a/b', 'an id or a domain name'],
      ['tenantId', '..', 'an id or a domain name'],
      ['tenantId', 't'.repeat(254), 'an id or a domain name'],
      ['tenantId', 'a b', 'an id or a domain name'],
      ['subscriptionId', 'a b', 'an id'],
      ['clientId', 'a/b', 'an id'],
      ['clientId', 'a\0b', 'an id'],
      ['clientId', 'a?b', 'an id'],
      ['clientId', 'a#b', 'an id'],
      ['clientId', 'c'.repeat(257), 'an id'],
      ['clientId', 'a\ud800', 'an id'],
      ['clientSecret', 'secret\n', 'control character'],
      ['clientSecret', '\uFEFFsecret', 'control character'],
      ['subscriberEndpoint', 'http://app.example/api/events', 'https'],
      ['scope', 'subscriptions/1', 'start with a slash'],
      ['scope', '/subscriptions/another', 'subscription of subscriptionId'],
      ['eventSubscriptionName', 'ab', '3 to 64 letters and digits'],
      ['eventSubscriptionName', 'a'.repeat(65), '3 to 64 letters and digits'],
      ['eventSubscriptionName', 'my-name', 'letters and digits alone where the binding creates'],
      ['eventSubscriptionName', 'größe', '3 to 64 letters and digits'],
      ['includedEventTypes', 'a,,b', 'empty item'],
      ['maxDeliveryAttempts', '0', '1 to 30'],
      ['maxDeliveryAttempts', '31', '1 to 30'],
      ['eventTimeToLive', '90s', 'whole minutes'],
      ['eventTimeToLive', '59s', '1m to 24h'],
      ['eventTimeToLive', '1441m', '1m to 24h'],
      ['maxEventsPerBatch', '5001', '1 to 5000'],
      ['preferredBatchSizeInKilobytes', '1025', '1 to 1024'],
      ['deadLetterStorageAccountId', sampleInput.scope, 'storage account'],
      ['deadLetterContainer', 'A', 'lower-case'],
      ['deadLetterContainer', 'ab', '3 to 63'],
      ['deadLetterContainer', 'a'.repeat(64), '3 to 63'],
      ['deadLetterContainer', 'a--b', 'single hyphens'],
      ['deadLetterContainer', '-ab', 'lower-case'],
      ['deadLetterContainer', 'ab-', 'lower-case'],
      ['deadLetterContainer', 'abc/d', 'lower-case'],
      ['labels', ',', 'empty item'],
      ['replaceDestination', 'yes', 'true, false'],
      ['eventDeliverySchema', 'CustomInputSchema', 'CloudEventSchemaV1_0, EventGridSchema'],
      ['deliveryAuthentication', 'password', 'secret, entra, none'],
      ['deliveryToken', 'n'.repeat(15), '16 to 1024'],
      ['deliveryToken', 'n'.repeat(1_025), '16 to 1024'],
      ['deliveryToken', `${'n'.repeat(16)},short`, '16 to 1024'],
      ['deliveryToken', Array.from({ length: 11 }, () => 'n'.repeat(16)).join(), 'at most 10'],
      ['azureEnvironment', 'AzureGermanCloud', 'AzureChinaCloud'],
      ['eventGridClientId', 'a b', 'an id'],
      ['azureCredential', 'certificate', 'managedIdentity'],
      ['listenAddress', '[::]', 'IP address'],
      ['listenAddress', 'a'.repeat(254), 'IP address'],
      ['listenAddress', 'localhost:80', 'IP address'],
      ['listenAddress', 'a b', 'IP address'],
      ['maxConcurrency', '0', '1 to 10000'],
      ['maxConcurrency', '10001', '1 to 10000'],
      ['maxEventsPerBatch', '0', '1 to 5000'],
      ['preferredBatchSizeInKilobytes', '0', '1 to 1024'],
      ['maxRequestBytes', '2097151', '2097152'],
      ['maxRequestBytes', '67108865', '67108864'],
      ['maxRequestBytes', '4Mi', '2097152'],
      ['handlerTimeout', '26s', '25s'],
      ['handlerTimeout', '0s', '25s'],
      ['subscriptionTimeout', '25h', '24h'],
      ['advancedFilters', 'x', 'JSON array'],
      ['advancedFilters', '{}', 'JSON array'],
      ['advancedFilters', '[]', 'at least one'],
      ['advancedFilters', filters(7), '[0] must be an object'],
      ['advancedFilters', filters({ operatorType: 'StringIn', values: ['a'] }), '[0].key'],
      ['advancedFilters', filters({ operatorType: 'StringIn', key: '', values: ['a'] }), '[0].key'],
      ['advancedFilters', filters({ operatorType: 'StringIn', key, values: ['a'.repeat(513)] }), '512'],
      ['advancedFilters', filters(...Array(26).fill({ operatorType: 'IsNotNull', key })), '25 filters'],
    ].map(([name = '', value = '', rule = '']) => ({ name, value, rule, start: value.slice(0, 60) })),
  )('refuses $name $start alone', ({ name, value, rule }) => {
    const pair = name.startsWith('deadLetter') && {
      deadLetterStorageAccountId: storageAccount,
      deadLetterContainer: 'dead',
    }
    const issues = faults({ ...sampleInput, ...pair, [name]: value })
    expect(issues.map(({ field }) => field)).toEqual([name])
    expect(issues[0]?.rule).toContain(rule)
  })

  it.each([
    ['eventTimeToLive', '1440', 'write a number with its unit, as in "24h"'],
    ['eventTimeToLive', 90_000, 'write a number with its unit, as in "24h"'],
    ['handlerTimeout', 30, 'write a number with its unit, as in "25s"'],
    ['handlerTimeout', '0', 'write a number with its unit, as in "25s"'],
    ['subscriptionTimeout', true, 'write a number with its unit, as in "24h"'],
    ['maxConcurrency', 16, 'put it in quotes: maxConcurrency: "16"'],
    ['replaceDestination', true, 'put it in quotes: replaceDestination: "true"'],
    ['labels', 7n, 'put it in quotes: labels: "7"'],
  ])('says for %s %s what to write in its place', (name, value, fix) => {
    expect(faults({ ...sampleInput, [name]: value })).toMatchObject([{ field: name, fix }])
  })

  it.each([
    ['handshakePort', 0, 'must be a port from 1 to 65535: 0 takes a free one in the library only'],
    ['handshakePort', 70_000, 'must be a port from 1 to 65535, without sign or leading zero'],
    ['maxConcurrency', 0, 'must be a whole number from 1 to 10000, without sign or leading zero'],
    ['replaceDestination', 1, 'must be one of true, false'],
    ['provisioning', false, 'must be one of manage, check, none'],
    ['eventDeliverySchema', 1.0, 'must be one of CloudEventSchemaV1_0, EventGridSchema'],
    ['eventSubscriptionName', 12, 'must be 3 to 64 letters and digits'],
  ])('says for %s %s the rule that quotes would not mend', (name, value, rule) => {
    expect(faults({ ...sampleInput, [name]: value })).toMatchObject([{ field: name, value: String(value), rule }])
  })

  // Whoever does what a message says must not get the next message for it.
  it('gives for any bare value of any field one fault, and a value in its advice that the field takes', () => {
    const namespaceTopic = `/subscriptions/${subscriptionId}/resourceGroups/rg/providers/Microsoft.EventGrid/namespaces/n/topics/t`
    const { tenantId, clientId, clientSecret } = sampleInput
    const samplePull = { deliveryMode: 'pull', tenantId, clientId, clientSecret, subscriptionId, namespaceTopic }
    const issuesOf = (fields: Readonly<Record<string, unknown>>, name: string) => {
      try {
        parseMetadata(fields)
        return []
      } catch (error) {
        if (error instanceof BindingError) return error.issues.filter(({ field }) => field === name)
        throw error
      }
    }
    const asked = fc.record({
      sample: fc.constantFrom<Readonly<Record<string, unknown>>>(sampleInput, samplePull, sampleOutput),
      name: fc.constantFrom(...metadataFields.filter(({ secret }) => !secret).map(({ name }) => name)),
      value: fc.oneof(fc.boolean(), fc.integer(), fc.nat(100), fc.nat(100_000), fc.double()),
    })
    fc.assert(
      fc.property(asked, ({ sample, name, value }) => {
        for (const given of [value, String(value)]) {
          const issues = issuesOf({ ...sample, [name]: given }, name)
          expect(issues.length).toBeLessThan(2)
          const [, advised] = /(?:as in|: \w+:) "(.+)"$/.exec(issues[0]?.fix ?? '') ?? []
          if (advised !== undefined) expect(issuesOf({ ...sample, [name]: advised }, name)).toEqual([])
        }
      }),
      { numRuns: 500, seed: 52 },
    )
  })

  it.each([
    { name: 'my-orders', says: 'set provisioning: check, or none: see Names in docs/migration.md' },
    { name: 'my_orders', says: undefined },
  ])('says of the event subscription name $name where its change-over is described', ({ name, says }) => {
    const [issue] = faults({ ...sampleInput, eventSubscriptionName: name })
    expect(issue?.fix?.split('exists already, ')[1]).toBe(says)
  })

  it.each([
    ['topicEndpoint', 'http://orders.example/api/events', 'https'],
    ['topicEndpoint', 'http://localhost.example', 'https'],
    ['accessKey', 'key\r\n', 'control character'],
    ['accessKey', 'JF0co…=', 'ASCII'],
    ['topicAuthentication', 'sas', 'accessKey, entra'],
    ['publishTimeout', '999ms', '1s to 10m'],
    ['publishTimeout', '601s', '1s to 10m'],
    ['topicSchema', 'CustomInputSchema', 'auto'],
  ])('refuses %s %j of the output alone', (name, value, rule) => {
    const issues = faults({ ...sampleOutput, [name]: value })
    expect(issues.map(({ field }) => field)).toEqual([name])
    expect(issues[0]?.rule).toContain(rule)
  })
})
