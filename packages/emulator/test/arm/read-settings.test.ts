import { describe, expect, it } from 'vitest'
import { destinationIds } from '../../../../test/support/azure-ids.ts'
import { ArmError } from '../../src/arm/call/errors.ts'
import { parseEventSubscription } from '../../src/arm/subscriptions/read-settings.ts'
import type { InputSchema } from '../../src/model/resources/resource.ts'

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
const hook = (properties: Record<string, unknown>) => ({ destination: webhook(properties) })
const attributes = (...deliveryAttributeMappings: readonly object[]) => hook({ deliveryAttributeMappings })
const filters = (...advancedFilters: readonly object[]) => ({ ...hook({}), filter: { advancedFilters } })
const retries = (retryPolicy: object) => ({ ...hook({}), retryPolicy })
const expiring = (expirationTimeUtc: string) => ({ ...hook({}), expirationTimeUtc })
const letters = { endpointType: 'StorageBlob', properties: { resourceId: storageAccount } }

describe('a PUT body is refused', () => {
  it.each<readonly [name: string, properties: unknown, message: RegExp]>([
    ['no destination', {}, /destination/],
    ['an unknown kind of destination', { destination: { endpointType: 'Pigeon', properties: {} } }, /destination/],
    ['no storage queue', { destination: { endpointType: 'StorageQueue' } }, /destination/],
    ...[
      { resourceId: 'a b' },
      { resourceId: `${storageAccount}/x` },
      { resourceId: 1 },
      { queueName: '../letters' },
      { queueName: 'x'.repeat(64) },
      { queueMessageTimeToLiveInSeconds: 0 },
    ].map((wrong) => {
      const invalid = new RegExp(`destination.properties.${Object.keys(wrong)[0]}' is invalid`)
      return [`the storage queue ${Object.values(wrong)}`, { destination: storageQueue(wrong) }, invalid] as const
    }),
    ['no URL', { destination: { endpointType: 'WebHook' } }, /Supplied URL is invalid/],
    ['a null URL', hook({ endpointUrl: null }), /Supplied URL is invalid/],
    ['an http URL', hook({ endpointUrl: 'http://a.example' }), /proper HTTPS URL like https:\/\/www\.example\.com\.$/],
    ['no URL at all', hook({ endpointUrl: 'example' }), /Supplied URL is invalid/],
    ['a batch of 0', hook({ maxEventsPerBatch: 0 }), /maxEventsPerBatch/],
    ['a batch of 5001', hook({ maxEventsPerBatch: 5001 }), /maxEventsPerBatch/],
    ['a batch of 1025 KB', hook({ preferredBatchSizeInKilobytes: 1025 }), /preferredBatchSize/],
    ['11 delivery attributes', attributes(...numbers(11).map((n) => attribute(`X-${n}`))), /deliveryAttributeMappings/],
    ['an attribute of 4097 bytes', attributes(attribute('X', 'ü'.repeat(2049))), /4096/],
    ['an attribute aeg-x', attributes(attribute('Aeg-x')), /aeg-/],
    ...['Transfer-Encoding', 'content-length', 'Host', 'Connection', 'TE', 'Content-Type'].map((name) => {
      const says = new RegExp(`'${name.toLowerCase()}' is that of a header`)
      return [`an attribute ${name}`, attributes(attribute(name)), says] as const
    }),
    ['an attribute twice', attributes(attribute('X'), attribute('x')), /unique/],
    [
      'Authorization beside Entra',
      hook({ azureActiveDirectoryApplicationIdOrUri: 'a', deliveryAttributeMappings: [attribute('Authorization')] }),
      /Authorization/,
    ],
    ['0 attempts', retries({ maxDeliveryAttempts: 0 }), /maxDeliveryAttempts/],
    ['31 attempts', retries({ maxDeliveryAttempts: 31 }), /maxDeliveryAttempts/],
    ['1441 minutes', retries({ eventTimeToLiveInMinutes: 1441 }), /eventTimeToLiveInMinutes/],
    ['an expiry that is over', expiring('2025-12-31T23:59:59Z'), /^Invalid expiration time\.$/],
    ['an expiry that is no time', expiring('tomorrow'), /^Invalid expiration time\.$/],
    ['an unknown schema', { ...hook({}), eventDeliverySchema: 'Xml' }, /eventDeliverySchema/],
    ['an unknown operator', filters({ operatorType: 'Regex', key: 'a', values: ['b'] }), /advancedFilters/],
    ['a filter without a key', filters({ operatorType: 'IsNotNull' }), /advancedFilters\.0\.key/],
    ['26 filters', filters(...numbers(26).map((n) => ({ operatorType: 'IsNotNull', key: `k${n}` }))), /25 items/],
    ['26 values', filters({ operatorType: 'NumberIn', key: 'n', values: numbers(26) }), /25 values/],
    ['a value of 513 characters', filters({ operatorType: 'StringIn', key: 's', values: ['x'.repeat(513)] }), /512/],
    ...[
      ...Object.keys(destinationIds).flatMap((endpointType) => [
        { endpointType, properties: {} },
        { endpointType, properties: { resourceId: storageAccount } },
        { endpointType, properties: { resourceId: 'any text' } },
      ]),
      { endpointType: 'EventHub', properties: { resourceId: destinationIds.EventHub.replace(/\/eventhubs.*/, '') } },
      { endpointType: 'MonitorAlert', properties: {} },
      { endpointType: 'MonitorAlert', properties: { severity: 'Sev9' } },
      { endpointType: 'MonitorAlert', properties: { severity: 'Sev1', actionGroups: ['/x'] } },
      { endpointType: 'AzureFunction', properties: { resourceId: destinationIds.AzureFunction, maxEventsPerBatch: 0 } },
    ].map((destination) => {
      const cloudEvents = { destination, eventDeliverySchema: 'CloudEventSchemaV1_0' }
      return [`the destination ${JSON.stringify(destination)}`, cloudEvents, /destination\.properties\./] as const
    }),
    ...[{ type: 'Somebody' }, { type: 'UserAssigned' }, { type: 'UserAssigned', userAssignedIdentity: 'me' }, {}].map(
      (identity) => {
        const delivery = { deliveryWithResourceIdentity: { identity, destination: webhook() } }
        return [`the identity ${JSON.stringify(identity)}`, delivery, /identity/] as const
      },
    ),
    ...[
      { resourceId: 'x', blobContainerName: 'letters' },
      { resourceId: storageAccount, blobContainerName: 'Not A Container' },
    ].map((properties) => {
      const deadLetterDestination = { endpointType: 'StorageBlob', properties }
      return [
        `dead letters at ${Object.values(properties)}`,
        { ...hook({}), deadLetterDestination },
        /deadLetter/,
      ] as const
    }),
    [
      'a namespace topic that gets Event Grid events',
      { destination: { endpointType: 'NamespaceTopic', properties: { resourceId: destinationIds.NamespaceTopic } } },
      /must be CloudEventSchemaV1_0/,
    ],
    ['a dead-letter without a container', { ...hook({}), deadLetterDestination: letters }, /blobContainerName/],
  ])('with %s', (_name, properties, message) => {
    expect(refusal(() => put(properties))).toMatchObject({
      status: 400,
      code: 'InvalidRequest',
      message: expect.stringMatching(message),
    })
  })

  it.each(['ab', 'a'.repeat(65), 'a b', 'a_b', 'ümlaut', 'a.b'])('with the name %j', (name) => {
    expect(refusal(() => put(hook({}), { name })).message).toContain('name')
  })

  it.each<[output: string, input: InputSchema]>([
    ['EventGridSchema', 'CloudEventSchemaV1_0'],
    ['CustomInputSchema', 'CloudEventSchemaV1_0'],
    ['CustomInputSchema', 'EventGridSchema'],
  ])('with %s from a topic of %s', (eventDeliverySchema, inputSchema) => {
    const attempt = () => put({ ...hook({}), eventDeliverySchema }, { inputSchema })
    const message =
      `The specified EventDeliverySchema value "${eventDeliverySchema}" cannot be used in combination with the topic's ` +
      `input schema of ${inputSchema}.`
    expect(refusal(attempt)).toMatchObject({ status: 400, code: 'InvalidRequest', message })
  })
})

describe('a PUT body is taken', () => {
  it.each<readonly [given: object, kept: object]>([
    [{ eventDeliverySchema: 'cloudeventschemav1_0' }, { eventDeliverySchema: 'CloudEventSchemaV1_0' }],
    [
      { destination: { ...storageQueue(), endpointType: 'storagequeue' } },
      { destination: { endpointType: 'StorageQueue' } },
    ],
    [
      { destination: { endpointType: 'monitoralert', properties: { severity: 'sev1' } } },
      { destination: { endpointType: 'MonitorAlert', properties: { severity: 'Sev1' } } },
    ],
    [
      { filter: { advancedFilters: [{ operatorType: 'STRINGIN', key: 'a', values: ['B'] }] } },
      { filter: { advancedFilters: [{ operatorType: 'StringIn', values: ['B'] }] } },
    ],
    [
      attributes({ ...attribute('X', 'static'), type: 'static' }),
      { destination: { properties: { deliveryAttributeMappings: [{ name: 'X', type: 'Static' }] } } },
    ],
    [
      {
        deliveryWithResourceIdentity: { identity: { type: 'systemassigned' }, destination: webhook() },
        destination: null,
      },
      { deliveryWithResourceIdentity: { identity: { type: 'SystemAssigned' } } },
    ],
    [
      {
        deadLetterDestination: {
          ...letters,
          properties: { ...letters.properties, blobContainerName: 'dead' },
          endpointType: 'storageblob',
        },
      },
      { deadLetterDestination: { endpointType: 'StorageBlob' } },
    ],
  ])('with enumerated values in any letter case: %j', (given, kept) => {
    expect(put({ ...hook({}), ...given })).toMatchObject(kept)
  })

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

  it.each(Object.entries(destinationIds))('for a destination of type %s', (endpointType, resourceId) => {
    const destination = { endpointType, properties: { resourceId } }
    expect(put({ destination, eventDeliverySchema: 'CloudEventSchemaV1_0' }).destination).toEqual(destination)
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
    const hub = { endpointType: 'EventHub', properties: { resourceId: destinationIds.EventHub } }
    const attempt = () =>
      parseEventSubscription(
        'PATCH',
        { destination: { endpointType: 'WebHook', properties: {} } },
        { name: 'shop', existing: put({ destination: hub }), now },
      )
    expect(refusal(attempt).message).toContain('Supplied URL is invalid')
  })
})
