import type { EventSubscription } from '@azure/arm-eventgrid'
import { describe, expect, it } from 'vitest'
import { resetToDefault } from '../../src/metadata/fields/setting.ts'
import type { SubscriptionSettings } from '../../src/metadata/typed/metadata.ts'
import { decideUpsert } from '../../src/provision/decide/decide-upsert.ts'
import { desire, ours, settings, standing, theirs, webHook } from './support/standing.ts'

it('creates what is missing, with nothing but what metadata asks for', () => {
  expect(decideUpsert(undefined, desire())).toEqual({
    action: 'create',
    body: {
      destination: {
        endpointType: 'WebHook',
        endpointUrl: 'https://app.example.com/api/events?code=query-marked',
        deliveryAttributeMappings: [ours],
      },
      eventDeliverySchema: 'CloudEventSchemaV1_0',
    },
  })
})

describe('carries settings that the SDK does not know', () => {
  const tls = { path: ['destination', 'properties', 'minimumTlsVersionAllowed'] as const, value: '1.2' }
  const novelty = { path: ['novelty'] as const, value: 1 }
  const elsewhere = webHook({ endpointUrl: 'https://app.example.com/other' })
  it.each([
    { name: 'by a PATCH, those in its fields', there: {}, expected: { action: 'patch', carryOver: [tls] } },
    {
      name: 'by a PUT, all of them',
      there: { provisioningState: 'Failed' },
      expected: { action: 'replace', carryOver: [tls, novelty] },
    },
  ])('$name', ({ there, expected }) => {
    const existing = { ...standing({ destination: elsewhere, ...there }), unknownSettings: [tls, novelty] }
    expect(decideUpsert(existing, desire())).toMatchObject(expected)
  })
})

describe('keeps', () => {
  // The service sends null where the SDK's types know only undefined.
  const none = null as unknown as undefined
  it.each([
    { name: 'what it created, with all defaults filled in', there: {} },
    { name: 'labels of null', there: { labels: none as unknown as string[] } },
    { name: 'event types spelled All', there: { filter: { includedEventTypes: ['All'] } } },
    { name: 'event types of null', there: { filter: { includedEventTypes: none as unknown as string[] } } },
    {
      name: 'an attribute name in other letter case',
      there: { destination: webHook({ deliveryAttributeMappings: [{ ...ours, name: ours.name.toLowerCase() }] }) },
    },
    {
      name: "the operator's attributes beside ours",
      there: { destination: webHook({ deliveryAttributeMappings: [theirs, ours] }) },
    },
    {
      name: 'a URL whose host is spelled otherwise',
      there: { destination: webHook({ endpointUrl: 'https://APP.example.com:443/api/events?code=query-marked' }) },
    },
    {
      name: "the operator's filter, labels, retries and dead-letter",
      there: {
        filter: { subjectBeginsWith: '/a' },
        labels: ['x'],
        retryPolicy: { maxDeliveryAttempts: 3 },
        deadLetterDestination: { endpointType: 'StorageBlob' as const, resourceId: '/r', blobContainerName: 'c' },
      },
    },
    {
      name: 'dead-lettering by a managed identity',
      there: {
        deadLetterWithResourceIdentity: {
          identity: { type: 'SystemAssigned' as const },
          deadLetterDestination: { endpointType: 'StorageBlob' as const, resourceId: '/r', blobContainerName: 'c' },
        },
      },
    },
    { name: 'an expiry', there: { expirationTimeUtc: new Date('2030-01-01') } },
  ])('$name', ({ there }) => expect(decideUpsert(standing(there), desire())).toEqual({ action: 'keep' }))

  it.each<{ name: string; wanted: Partial<SubscriptionSettings>; there: Partial<EventSubscription> }>([
    {
      name: 'settings that name the defaults',
      wanted: {
        maxDeliveryAttempts: 30,
        eventTimeToLiveMinutes: 1440,
        maxEventsPerBatch: 1,
        preferredBatchSizeInKilobytes: 64,
      },
      there: {},
    },
    {
      name: 'resets of what is at its default',
      wanted: {
        subjectBeginsWith: resetToDefault,
        labels: resetToDefault,
        deadLetter: resetToDefault,
        includedEventTypes: resetToDefault,
        maxDeliveryAttempts: resetToDefault,
        eventTimeToLiveMinutes: resetToDefault,
        maxEventsPerBatch: resetToDefault,
        preferredBatchSizeInKilobytes: resetToDefault,
      },
      there: {},
    },
    {
      name: 'event types and labels in another order',
      wanted: { includedEventTypes: ['a', 'b'], labels: ['p', 'q'] },
      there: { filter: { includedEventTypes: ['b', 'a'] }, labels: ['q', 'p'] },
    },
    {
      name: 'an advanced filter with its values in another order',
      wanted: { advancedFilters: [{ operatorType: 'StringIn', key: 'data.k', values: ['a', 'b'] }] },
      there: {
        filter: { advancedFilters: [{ key: 'data.k', values: ['b', 'a'], operatorType: 'StringIn' as const }] },
      },
    },
    {
      name: 'the same dead-letter account, whatever its letter case and identity',
      wanted: { deadLetter: { storageAccountId: '/Subscriptions/S', container: 'c' } },
      there: {
        deadLetterWithResourceIdentity: {
          identity: { type: 'SystemAssigned' as const },
          deadLetterDestination: {
            endpointType: 'StorageBlob' as const,
            resourceId: '/subscriptions/s',
            blobContainerName: 'c',
          },
        },
      },
    },
  ])('$name', ({ wanted, there }) => {
    expect(decideUpsert(standing(there), settings(wanted))).toEqual({ action: 'keep' })
  })
})

describe('patches', () => {
  it.each([
    { operatorType: 'BoolEquals' as const, standing: true, wanted: false },
    { operatorType: 'NumberGreaterThan' as const, standing: 1, wanted: 2 },
  ])('an advanced filter $operatorType whose value changes', ({ operatorType, standing: before, wanted }) => {
    const filterOf = (value: unknown) =>
      [{ operatorType, key: 'data.k', value }] as NonNullable<SubscriptionSettings['advancedFilters']>
    const there = { filter: { advancedFilters: filterOf(before) } } as Partial<EventSubscription>
    expect(decideUpsert(standing(there), settings({ advancedFilters: filterOf(wanted) }))).toMatchObject({
      action: 'patch',
      body: { filter: { advancedFilters: filterOf(wanted) } },
    })
  })

  it.each<{ name: string; there: Partial<EventSubscription>; because: string }>([
    {
      name: 'our credential is missing',
      there: { destination: webHook({ deliveryAttributeMappings: [{ ...ours, value: 'key2.other' }] }) },
      because: 'our delivery credential is missing, other destination (attributes)',
    },
    {
      name: 'an endpoint that moves, with another filter',
      there: {
        destination: webHook({ endpointUrl: 'https://old.example.com/' }),
        filter: { subjectBeginsWith: '/a' },
      },
      because: 'other destination (url), filter (subjectBeginsWith)',
    },
    {
      name: 'labels, which have no parts',
      there: { labels: ['a'] },
      because: 'other labels',
    },
  ])('and says what of it differs: $name', ({ there, because }) => {
    const wanted = settings({ subjectBeginsWith: '/b', labels: ['b'] })
    const asWanted = { filter: { subjectBeginsWith: '/b' }, labels: ['b'] }
    expect(decideUpsert(standing({ ...asWanted, ...there }), wanted)).toMatchObject({ action: 'patch', because })
  })

  it.each([
    {
      name: 'a filter whole, with what the operator set in it',
      there: { filter: { subjectEndsWith: '.png', isSubjectCaseSensitive: true } },
      wanted: { subjectBeginsWith: '/a' },
      body: { filter: { subjectBeginsWith: '/a', subjectEndsWith: '.png', isSubjectCaseSensitive: true } },
    },
    {
      name: 'event types',
      there: {},
      wanted: { includedEventTypes: ['a'] },
      body: { filter: { includedEventTypes: ['a'] } },
    },
    {
      name: 'retries',
      there: {},
      wanted: { maxDeliveryAttempts: 5 },
      body: { retryPolicy: { maxDeliveryAttempts: 5, eventTimeToLiveInMinutes: 1440 } },
    },
    { name: 'labels', there: { labels: ['x'] }, wanted: { labels: ['y'] }, body: { labels: ['y'] } },
    {
      name: 'dead-lettering',
      there: {},
      wanted: { deadLetter: { storageAccountId: '/s', container: 'c' } },
      body: { deadLetterDestination: { endpointType: 'StorageBlob', resourceId: '/s', blobContainerName: 'c' } },
    },
    {
      name: 'where dead-letters go, and leaves the identity to the operator',
      there: {
        deadLetterWithResourceIdentity: {
          identity: { type: 'SystemAssigned' as const },
          deadLetterDestination: { endpointType: 'StorageBlob' as const, resourceId: '/r', blobContainerName: 'c' },
        },
      },
      wanted: { deadLetter: { storageAccountId: '/s', container: 'c' } },
      body: {
        deadLetterWithResourceIdentity: {
          identity: { type: 'SystemAssigned' },
          deadLetterDestination: { endpointType: 'StorageBlob', resourceId: '/s', blobContainerName: 'c' },
        },
      },
    },
    {
      name: 'the schema, which counts as set',
      there: { eventDeliverySchema: 'EventGridSchema' },
      wanted: {},
      body: { eventDeliverySchema: 'CloudEventSchemaV1_0' },
    },
  ])('$name', ({ there, wanted, body }) => {
    expect(decideUpsert(standing(there), settings(wanted))).toMatchObject({ action: 'patch', body })
    const upsert = decideUpsert(standing(there), settings(wanted))
    expect(upsert.action === 'patch' && Object.keys(upsert.body)).toEqual(Object.keys(body))
  })

  it.each([
    { name: 'a token that cannot be read', mappings: [theirs, { ...ours, value: 'Hidden' }] },
    { name: 'no token', mappings: [theirs] },
    { name: 'a token in clear', mappings: [theirs, { ...ours, isSecret: false }] },
  ])('the destination whole, with the URL and all attributes, over $name', ({ mappings }) => {
    const upsert = decideUpsert(
      standing({ destination: webHook({ deliveryAttributeMappings: mappings, maxEventsPerBatch: 9 }) }),
      desire(),
    )
    expect(upsert).toMatchObject({
      action: 'patch',
      body: {
        destination: {
          endpointType: 'WebHook',
          endpointUrl: 'https://app.example.com/api/events?code=query-marked',
          maxEventsPerBatch: 9,
          preferredBatchSizeInKilobytes: 64,
          deliveryAttributeMappings: [theirs, ours],
        },
      },
      warnings: [],
    })
  })

  const held = (value: string) =>
    standing({ destination: webHook({ deliveryAttributeMappings: [theirs, { ...ours, value }] }) })

  it.each([
    { name: 'one of another replica', there: 'key0.old', written: 'key1.header-marked,key0.old', removed: false },
    {
      name: 'two of other replicas',
      there: 'key3.c, key2.b',
      written: 'key1.header-marked,key3.c,key2.b',
      removed: false,
    },
    {
      name: 'three of other replicas, of which the oldest goes',
      there: 'key4.d,key3.c,key2.b',
      written: 'key1.header-marked,key4.d,key3.c',
      removed: true,
    },
  ])('our credential in front of $name', ({ there, written, removed }) => {
    expect(decideUpsert(held(there), desire())).toMatchObject({
      action: 'patch',
      body: { destination: { deliveryAttributeMappings: [theirs, { ...ours, value: written }] } },
      warnings: removed ? [expect.stringContaining('at most 3 delivery credentials')] : [],
    })
  })

  it.each(['key1.header-marked,key0.old', 'key2.new,key1.header-marked', 'key3.c , key2.b , key1.header-marked'])(
    'nothing where ours is among those of other replicas: %s',
    (value) => expect(decideUpsert(held(value), desire())).toEqual({ action: 'keep' }),
  )

  it('and warns with both hosts, but no query, when it moves the event subscription', () => {
    const there = { destination: webHook({ endpointUrl: 'https://old.example.com/x?code=query-marked' }) }
    const upsert = decideUpsert(standing(there), desire())
    expect(upsert).toMatchObject({
      action: 'patch',
      warnings: [expect.stringMatching(/old\.example\.com.*app\.example\.com/)],
    })
    expect(JSON.stringify('warnings' in upsert && upsert.warnings)).not.toContain('query-marked')
  })
})

describe('replaces whole, since nothing else clears a field,', () => {
  const entra = { azureActiveDirectoryTenantId: 't', azureActiveDirectoryApplicationIdOrUri: 'a' }
  it.each([
    {
      name: 'a reset filter',
      there: { filter: { subjectBeginsWith: '/a', subjectEndsWith: '.b' } },
      wanted: settings({ subjectBeginsWith: resetToDefault }),
      body: { filter: { subjectEndsWith: '.b' } },
    },
    { name: 'reset labels', there: { labels: ['x'] }, wanted: settings({ labels: resetToDefault }), body: {} },
    {
      name: 'a reset dead-letter',
      there: {
        deadLetterDestination: { endpointType: 'StorageBlob' as const, resourceId: '/r', blobContainerName: 'c' },
        labels: ['x'],
      },
      wanted: settings({ deadLetter: resetToDefault }),
      body: { labels: ['x'] },
    },
    {
      name: 'a secret that deliveries no longer carry',
      there: { destination: webHook({ deliveryAttributeMappings: [ours, theirs] }) },
      wanted: desire({ deliveryAuthentication: { kind: 'none' } }),
      body: { destination: { deliveryAttributeMappings: [theirs] } },
    },
    {
      name: 'Entra that deliveries no longer use',
      there: { destination: webHook(entra) },
      wanted: desire(),
      body: { destination: { deliveryAttributeMappings: [ours] } },
    },
    {
      name: 'a schema that goes back to the default',
      there: {},
      wanted: desire({ settings: { eventDeliverySchema: 'EventGridSchema' } }),
      body: { eventDeliverySchema: 'EventGridSchema' },
    },
  ])('$name', ({ there, wanted, body }) => {
    const upsert = decideUpsert(standing(there), wanted)
    expect(upsert).toMatchObject({ action: 'replace', body })
    expect(JSON.stringify(upsert)).not.toContain('azureActiveDirectory')
  })

  it.each(['Failed', 'Canceled', 'AwaitingManualAction'] as const)(
    'what is %s, even when equal',
    (provisioningState) => {
      expect(decideUpsert(standing({ provisioningState }), desire())).toMatchObject({ action: 'replace' })
    },
  )

  it('and keeps what the operator set, an expiry too', () => {
    const expirationTimeUtc = new Date('2030-01-01')
    const there = {
      provisioningState: 'Failed' as const,
      expirationTimeUtc,
      labels: ['x'],
      filter: { enableAdvancedFilteringOnArrays: true },
    }
    expect(decideUpsert(standing(there), desire())).toMatchObject({
      body: { expirationTimeUtc, labels: ['x'], filter: { enableAdvancedFilteringOnArrays: true } },
    })
  })
})

it('names a setting of the web hook that differs as the metadata field and Azure name it', () => {
  const there = standing({
    destination: webHook({ preferredBatchSizeInKilobytes: 128, deliveryAttributeMappings: [ours] }),
  })
  const because = 'other destination (preferredBatchSizeInKilobytes)'
  expect(decideUpsert(there, settings({ preferredBatchSizeInKilobytes: 256 }))).toMatchObject({
    action: 'patch',
    because,
  })
})

it('writes the Entra pair and takes our attribute away where deliveries prove themselves by Entra', () => {
  const delivery = { kind: 'entra', tenantId: 't1', clientId: 'c1', eventGridClientId: 'e1' } as const
  const upsert = decideUpsert(standing(), desire({ deliveryAuthentication: delivery }))
  expect(upsert).toMatchObject({
    action: 'replace',
    body: { destination: { azureActiveDirectoryTenantId: 't1', azureActiveDirectoryApplicationIdOrUri: 'c1' } },
  })
  expect(JSON.stringify(upsert)).not.toContain('X-EventGrid-Binding-Token')
})

it.each(['Creating', 'Updating', 'Deleting'] as const)('waits while it is %s', (provisioningState) => {
  expect(decideUpsert(standing({ provisioningState }), desire())).toEqual({ action: 'wait', state: provisioningState })
})

describe('another destination', () => {
  const hub = { endpointType: 'EventHub', resourceId: '/x' } as const
  const identity = { type: 'SystemAssigned' } as const
  const nothing = null as unknown as EventSubscription['destination'] & object
  it.each([
    { name: 'an event hub', there: { destination: hub }, says: 'EventHub' },
    {
      name: 'an event hub by a managed identity',
      there: { destination: nothing, deliveryWithResourceIdentity: { identity, destination: hub } },
      says: 'EventHub by a managed identity',
    },
    {
      name: 'a web hook by a managed identity',
      there: { destination: nothing, deliveryWithResourceIdentity: { identity, destination: webHook() } },
      says: 'WebHook by a managed identity',
    },
    { name: 'none that the SDK knows', there: { destination: nothing }, says: 'unknown type' },
  ])('is refused, or replaced where replaceDestination says so: $name', ({ there, says }) => {
    expect(decideUpsert(standing(there), desire())).toMatchObject({
      action: 'refuse',
      because: expect.stringContaining(says),
    })
    const replaced = decideUpsert(standing({ ...there, labels: ['x'] }), desire({ replaceDestination: true }))
    expect(replaced).toMatchObject({
      action: 'replace',
      body: { destination: { endpointType: 'WebHook', deliveryAttributeMappings: [ours] }, labels: ['x'] },
      warnings: [expect.stringContaining(says)],
    })
    expect('body' in replaced && replaced.body.deliveryWithResourceIdentity).toBeUndefined()
  })
})

describe("an operator's secret attribute that cannot be read", () => {
  const unreadable = { name: 'x-theirs', type: 'Static', value: 'Hidden', isSecret: true } as const
  const destination = webHook({ deliveryAttributeMappings: [unreadable, ours] })
  it('is no difference', () => expect(decideUpsert(standing({ destination }), desire())).toEqual({ action: 'keep' }))
  it('does not stop a patch of another field', () => {
    expect(decideUpsert(standing({ destination }), settings({ labels: ['a'] }))).toMatchObject({
      action: 'patch',
      body: { labels: ['a'] },
    })
  })
  it.each([
    {
      name: 'a patch of the destination',
      there: { destination: { ...destination, endpointUrl: 'https://old.example.com/' } },
    },
    { name: 'a PUT', there: { destination, provisioningState: 'Failed' as const } },
  ])('is never written back: $name is refused', ({ there }) => {
    expect(decideUpsert(standing(there), desire())).toMatchObject({
      action: 'refuse',
      because: expect.stringContaining('x-theirs'),
    })
  })
})

it('falls back on the base URL where the full one is not told, which a query of ours makes a difference', () => {
  const { endpointUrl, ...hidden } = webHook()
  expect(decideUpsert(standing({ destination: hidden }), desire())).toMatchObject({ action: 'patch' })
  const bare = desire({ subscriberEndpoint: 'https://app.example.com/api/events' })
  expect(decideUpsert(standing({ destination: hidden }), bare)).toEqual({ action: 'keep' })
})

describe('a difference is a matter of settings', () => {
  it.each([
    { name: 'where metadata resets labels', there: { labels: ['x'] }, wanted: settings({ labels: resetToDefault }) },
    {
      name: 'where metadata resets a filter',
      there: { filter: { subjectBeginsWith: '/a' } },
      wanted: settings({ subjectBeginsWith: resetToDefault }),
    },
  ])('$name', ({ there, wanted }) => {
    expect(decideUpsert(standing(there), wanted)).toMatchObject({ action: 'replace', difference: 'settings' })
  })
})
