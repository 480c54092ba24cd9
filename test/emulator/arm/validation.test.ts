import { describe, expect, it } from 'vitest'
import { ArmError } from '../../../src/emulator/arm/call/errors.ts'
import { parseEventSubscription } from '../../../src/emulator/arm/subscriptions/validation.ts'
import type { InputSchema } from '../../../src/emulator/model/resources/model.ts'

const now = Date.UTC(2026, 0, 1)
const endpointUrl = 'https://example.com/api/events?code=1'
const webhook = (properties: Record<string, unknown> = {}) => ({
  endpointType: 'WebHook',
  properties: { endpointUrl, ...properties },
})
const storageAccount = '/subscriptions/1/resourceGroups/rg/providers/Microsoft.Storage/storageAccounts/shop'
const storageQueue = (properties: Record<string, unknown> = {}) => ({
  endpointType: 'StorageQueue',
  properties: { resourceId: storageAccount, queueName: 'letters', ...properties },
})
const put = (properties: unknown, more: { name?: string; inputSchema?: InputSchema } = {}) =>
  parseEventSubscription('PUT', { properties }, { name: 'shop', now, ...more })

function refusal(attempt: () => unknown): ArmError {
  try {
    attempt()
  } catch (error) {
    if (error instanceof ArmError) return error
    throw error
  }
  throw new Error('it was accepted')
}

const attribute = (name: string, value = 'x') => ({ name, type: 'Static', properties: { value } })
const numbers = (count: number) => Array.from({ length: count }, (_, index) => index)

describe('a PUT body is refused', () => {
  it.each([
    { name: 'no destination', properties: {}, message: /destination/ },
    {
      name: 'an unknown kind of destination',
      properties: { destination: { endpointType: 'Pigeon', properties: {} } },
      message: /destination/,
    },
    { name: 'no storage queue', properties: { destination: { endpointType: 'StorageQueue' } }, message: /destination/ },
    ...[
      { resourceId: 'a b' },
      { resourceId: `${storageAccount}/x` },
      { resourceId: 1 },
      { queueName: '../letters' },
      { queueName: 'x'.repeat(64) },
      { queueMessageTimeToLiveInSeconds: 0 },
    ].map((wrong) => ({
      name: `a storage queue with ${JSON.stringify(wrong).slice(0, 50)}`,
      properties: { destination: storageQueue(wrong) },
      message: new RegExp(`destination.properties.${Object.keys(wrong)[0]}' is invalid`),
    })),
    { name: 'no URL', properties: { destination: { endpointType: 'WebHook' } }, message: /Supplied URL is invalid/ },
    {
      name: 'a null URL',
      properties: { destination: webhook({ endpointUrl: null }) },
      message: /Supplied URL is invalid/,
    },
    {
      name: 'an http URL',
      properties: { destination: webhook({ endpointUrl: 'http://example.com' }) },
      message: /proper HTTPS URL like https:\/\/www\.example\.com\.$/,
    },
    {
      name: 'no URL at all',
      properties: { destination: webhook({ endpointUrl: 'example' }) },
      message: /Supplied URL is invalid/,
    },
    {
      name: 'a batch of 0',
      properties: { destination: webhook({ maxEventsPerBatch: 0 }) },
      message: /maxEventsPerBatch/,
    },
    {
      name: 'a batch of 5001',
      properties: { destination: webhook({ maxEventsPerBatch: 5001 }) },
      message: /maxEventsPerBatch/,
    },
    {
      name: 'a batch of 1025 KB',
      properties: { destination: webhook({ preferredBatchSizeInKilobytes: 1025 }) },
      message: /preferredBatchSize/,
    },
    {
      name: '11 delivery attributes',
      properties: { destination: webhook({ deliveryAttributeMappings: numbers(11).map((n) => attribute(`X-${n}`)) }) },
      message: /deliveryAttributeMappings/,
    },
    {
      name: 'an attribute of 4097 bytes',
      properties: { destination: webhook({ deliveryAttributeMappings: [attribute('X', 'ü'.repeat(2049))] }) },
      message: /4096/,
    },
    {
      name: 'an attribute aeg-x',
      properties: { destination: webhook({ deliveryAttributeMappings: [attribute('Aeg-x')] }) },
      message: /aeg-/,
    },
    ...['Transfer-Encoding', 'content-length', 'Host', 'Connection', 'TE', 'Content-Type'].map((name) => ({
      name: `an attribute ${name}`,
      properties: { destination: webhook({ deliveryAttributeMappings: [attribute(name)] }) },
      message: new RegExp(`'${name.toLowerCase()}' is that of a header`),
    })),
    {
      name: 'an attribute twice',
      properties: { destination: webhook({ deliveryAttributeMappings: [attribute('X'), attribute('x')] }) },
      message: /unique/,
    },
    {
      name: 'Authorization beside Entra',
      properties: {
        destination: webhook({
          azureActiveDirectoryApplicationIdOrUri: 'a',
          deliveryAttributeMappings: [attribute('Authorization')],
        }),
      },
      message: /Authorization/,
    },
    {
      name: '0 attempts',
      properties: { destination: webhook(), retryPolicy: { maxDeliveryAttempts: 0 } },
      message: /maxDeliveryAttempts/,
    },
    {
      name: '31 attempts',
      properties: { destination: webhook(), retryPolicy: { maxDeliveryAttempts: 31 } },
      message: /maxDeliveryAttempts/,
    },
    {
      name: '1441 minutes',
      properties: { destination: webhook(), retryPolicy: { eventTimeToLiveInMinutes: 1441 } },
      message: /eventTimeToLiveInMinutes/,
    },
    {
      name: 'an expiry that is over',
      properties: { destination: webhook(), expirationTimeUtc: '2025-12-31T23:59:59Z' },
      message: /^Invalid expiration time\.$/,
    },
    {
      name: 'an expiry that is no time',
      properties: { destination: webhook(), expirationTimeUtc: 'tomorrow' },
      message: /^Invalid expiration time\.$/,
    },
    {
      name: 'an unknown schema',
      properties: { destination: webhook(), eventDeliverySchema: 'Xml' },
      message: /eventDeliverySchema/,
    },
    {
      name: 'an unknown operator',
      properties: {
        destination: webhook(),
        filter: { advancedFilters: [{ operatorType: 'Regex', key: 'a', values: ['b'] }] },
      },
      message: /advancedFilters/,
    },
    {
      name: 'a filter without a key',
      properties: { destination: webhook(), filter: { advancedFilters: [{ operatorType: 'IsNotNull' }] } },
      message: /advancedFilters\.0\.key/,
    },
    {
      name: '26 filters',
      properties: {
        destination: webhook(),
        filter: { advancedFilters: numbers(26).map((n) => ({ operatorType: 'IsNotNull', key: `k${n}` })) },
      },
      message: /25 items/,
    },
    {
      name: '26 values',
      properties: {
        destination: webhook(),
        filter: { advancedFilters: [{ operatorType: 'NumberIn', key: 'n', values: numbers(26) }] },
      },
      message: /25 values/,
    },
    {
      name: 'a value of 513 characters',
      properties: {
        destination: webhook(),
        filter: { advancedFilters: [{ operatorType: 'StringIn', key: 's', values: ['x'.repeat(513)] }] },
      },
      message: /512/,
    },
    {
      name: 'a dead-letter without a container',
      properties: {
        destination: webhook(),
        deadLetterDestination: { endpointType: 'StorageBlob', properties: { resourceId: 'x' } },
      },
      message: /blobContainerName/,
    },
  ])('with $name', ({ properties, message }) => {
    expect(refusal(() => put(properties))).toMatchObject({
      status: 400,
      code: 'InvalidRequest',
      message: expect.stringMatching(message),
    })
  })

  it.each(['ab', 'a'.repeat(65), 'a b', 'a_b', 'ümlaut', 'a.b'])('with the name %j', (name) => {
    expect(refusal(() => put({ destination: webhook() }, { name })).message).toContain('name')
  })

  it.each<{ input: InputSchema; output: string }>([
    { input: 'CloudEventSchemaV1_0', output: 'EventGridSchema' },
    { input: 'CloudEventSchemaV1_0', output: 'CustomInputSchema' },
    { input: 'EventGridSchema', output: 'CustomInputSchema' },
  ])('with $output from a topic of $input', ({ input, output }) => {
    const attempt = () => put({ destination: webhook(), eventDeliverySchema: output }, { inputSchema: input })
    expect(refusal(attempt)).toMatchObject({ code: 'InvalidRequest' })
  })
})

describe('a PUT body is taken', () => {
  it.each<{ input: InputSchema | undefined; expected: string }>([
    { input: undefined, expected: 'EventGridSchema' },
    { input: 'EventGridSchema', expected: 'EventGridSchema' },
    { input: 'CloudEventSchemaV1_0', expected: 'CloudEventSchemaV1_0' },
    { input: 'CustomEventSchema', expected: 'CustomInputSchema' },
  ])('without a schema, as $expected from $input', ({ input, expected }) => {
    const more = input === undefined ? {} : { inputSchema: input }
    expect(put({ destination: webhook() }, more).eventDeliverySchema).toBe(expected)
  })

  it('with nulls, which count as absent', () => {
    const taken = put({ destination: webhook(), labels: null, filter: { includedEventTypes: null } })
    expect(taken).toEqual({ destination: webhook(), filter: {}, eventDeliverySchema: 'EventGridSchema' })
  })

  it('with everything at its limit', () => {
    const properties = {
      destination: webhook({ maxEventsPerBatch: 5000, preferredBatchSizeInKilobytes: 1024 }),
      retryPolicy: { maxDeliveryAttempts: 30, eventTimeToLiveInMinutes: 1440 },
      filter: { advancedFilters: [{ operatorType: 'NumberIn', key: 'n', values: numbers(25) }] },
      eventDeliverySchema: 'CloudEventSchemaV1_0',
    }
    expect(put(properties)).toEqual(properties)
  })

  it.each(['EventHub', 'AzureFunction', 'ServiceBusQueue'])('for a destination of type %s', (endpointType) => {
    const destination = { endpointType, properties: { resourceId: '/subscriptions/x' } }
    expect(put({ destination }).destination).toEqual(destination)
  })

  it('for a storage queue', () => {
    const destination = storageQueue({ queueMessageTimeToLiveInSeconds: -1 })
    expect(put({ destination }).destination).toEqual(destination)
  })
})

describe('a PATCH body', () => {
  const existing = put({
    destination: webhook(),
    labels: ['a'],
    filter: { subjectBeginsWith: '/a', subjectEndsWith: 'b' },
  })
  const patch = (body: unknown) => parseEventSubscription('PATCH', body, { name: 'shop', existing, now })

  it('replaces each field that it names whole and keeps the others', () => {
    expect(patch({ filter: { subjectBeginsWith: '/c' } })).toEqual({ ...existing, filter: { subjectBeginsWith: '/c' } })
  })

  it('clears nothing by null', () => {
    expect(patch({ labels: null })).toEqual(existing)
  })

  it('with its fields under `properties` is refused', () => {
    expect(refusal(() => patch({ properties: { labels: [] } }))).toMatchObject({ code: 'InvalidRequestContent' })
  })

  it.each([
    { name: 'no URL', properties: { maxEventsPerBatch: 2 } },
    { name: 'a null URL', properties: { maxEventsPerBatch: 2, endpointUrl: null } },
  ])('keeps the URL of a webhook that it writes with $name', ({ properties }) => {
    const destination = { endpointType: 'WebHook', properties }
    const kept = webhook({ maxEventsPerBatch: 2 })
    expect(patch({ destination }).destination).toEqual(kept)
    expect(patch({ deliveryWithResourceIdentity: { destination } })).toMatchObject({
      deliveryWithResourceIdentity: { destination: kept },
    })
  })

  it('with a webhook without URL is refused where the destination was none', () => {
    const hub = { endpointType: 'EventHub', properties: { resourceId: '/x' } }
    const attempt = () =>
      parseEventSubscription(
        'PATCH',
        { destination: { endpointType: 'WebHook', properties: {} } },
        { name: 'shop', existing: put({ destination: hub }), now },
      )
    expect(refusal(attempt).message).toContain('Supplied URL is invalid')
  })
})
