import { describe, expect, it } from 'vitest'
import { resetToDefault } from '../../../src/metadata/fields/field.ts'
import { settingFields } from '../../../src/metadata/fields/subscription-settings.ts'
import { parseMetadata } from '../../../src/metadata/typed/parse-metadata.ts'
import { faults, input } from '../parse.ts'
import { sampleInput, storageAccount } from '../sample.ts'

describe('optional fields', () => {
  it('have the defaults that the table states', () => {
    const { settings, ...rest } = input() ?? {}
    expect(settings).toEqual({ eventDeliverySchema: 'CloudEventSchemaV1_0' })
    expect(rest).toMatchObject({
      replaceDestination: false,
      environment: { name: 'AzurePublicCloud' },
      deliveryAuthentication: { kind: 'secret' },
      maxConcurrency: 256,
      maxRequestBytes: 4 * 1024 * 1024,
      handlerTimeoutMs: 25_000,
      subscriptionTimeoutMs: 120_000,
      provisioning: 'manage',
      listenAddress: undefined,
    })
  })

  it('are parsed', () => {
    const parsed = input({
      includedEventTypes: 'Orders.Placed, Orders.Paid',
      subjectBeginsWith: '/orders',
      subjectEndsWith: '.json',
      advancedFilters:
        '[{"operatorType":"stringin","key":"data.kind","values":["a"]},{"operatorType":"NumberInRange","key":"n","values":[[1,2]]}]',
      maxDeliveryAttempts: '5',
      eventTimeToLive: '1h30m',
      maxEventsPerBatch: '10',
      preferredBatchSizeInKilobytes: '128',
      deadLetterStorageAccountId: storageAccount,
      deadLetterContainer: 'dead-letters',
      labels: '["a,b","c"]',
      eventDeliverySchema: 'eventgridschema',
      handlerTimeout: '500ms',
      listenAddress: '127.0.0.1',
      replaceDestination: 'TRUE',
    })
    expect(parsed).toMatchObject({ handlerTimeoutMs: 500, listenAddress: '127.0.0.1', replaceDestination: true })
    expect(parsed?.settings).toEqual({
      includedEventTypes: ['Orders.Placed', 'Orders.Paid'],
      subjectBeginsWith: '/orders',
      subjectEndsWith: '.json',
      advancedFilters: [
        { operatorType: 'StringIn', key: 'data.kind', values: ['a'] },
        { operatorType: 'NumberInRange', key: 'n', values: [[1, 2]] },
      ],
      maxDeliveryAttempts: 5,
      eventTimeToLiveMinutes: 90,
      maxEventsPerBatch: 10,
      preferredBatchSizeInKilobytes: 128,
      deadLetter: { storageAccountId: storageAccount, container: 'dead-letters' },
      labels: ['a,b', 'c'],
      eventDeliverySchema: 'EventGridSchema',
    })
  })

  it('of the event subscription go back to its own by "default", and no others do', () => {
    const names = [...Object.keys(settingFields), 'eventDeliverySchema']
    const { settings } = input(Object.fromEntries(names.map((name) => [name, 'default']))) ?? {}
    const { eventDeliverySchema, ...others } = settings ?? {}
    expect(eventDeliverySchema).toBe('CloudEventSchemaV1_0')
    expect(Object.keys(others)).toHaveLength(names.length - 2)
    expect(Object.values(others).every((value) => value === resetToDefault)).toBe(true)
    expect(faults({ ...sampleInput, maxConcurrency: 'default' })).toMatchObject([{ field: 'maxConcurrency' }])
  })

  it.each([
    { given: { deadLetterContainer: 'dead' }, field: 'deadLetterStorageAccountId' },
    { given: { deadLetterStorageAccountId: storageAccount }, field: 'deadLetterContainer' },
  ])('refuse half a dead-letter destination: $field', ({ given, field }) => {
    expect(faults({ ...sampleInput, ...given })).toMatchObject([{ field }])
  })

  it.each([
    ['AZUREPUBLICCLOUD', 'AzurePublicCloud'],
    ['AzurePublic', 'AzurePublicCloud'],
    ['azurecloud', 'AzurePublicCloud'],
    ['AzureChina', 'AzureChinaCloud'],
    ['AZURECHINACLOUD', 'AzureChinaCloud'],
    ['AzureUSGovernment', 'AzureUSGovernmentCloud'],
    ['azureUsGovernmentCloud', 'AzureUSGovernmentCloud'],
  ])('take the cloud %s for %s', (azureEnvironment, name) => {
    expect(input({ azureEnvironment })?.environment.name).toBe(name)
  })

  it('warn of a subscriptionId that is no UUID', () => {
    const { warnings } = parseMetadata({ ...sampleInput, subscriptionId: 'dev', scope: '/subscriptions/DEV' })
    const rule = expect.stringContaining('is not a UUID')
    expect(warnings).toEqual([{ field: 'subscriptionId', value: '"dev"', rule }])
  })
})
