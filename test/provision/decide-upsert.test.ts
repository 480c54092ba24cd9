import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Secret } from '../../src/core/secret.ts'
import { resetToDefault } from '../../src/metadata/fields/field.ts'
import type { PushMetadata, SubscriptionSettings } from '../../src/metadata/typed/metadata.ts'
import { decideUpsert } from '../../src/provision/decide.ts'
import { readSubscriptionProperties, type SubscriptionProperties } from '../../src/provision/values.ts'
import { header } from './input.ts'
import { attribute, blob, desire, ours, settings, standing, theirs, webHook } from './standing.ts'

const withAttributes = (
  ...mappings: NonNullable<ReturnType<typeof webHook>['properties']['deliveryAttributeMappings']>
) => standing({ destination: webHook({ deliveryAttributeMappings: mappings }) })
const tokenField = 'destination.properties.deliveryAttributeMappings.x-eventgrid-binding-token'
const entraFields =
  'destination.properties.azureActiveDirectoryApplicationIdOrUri, destination.properties.azureActiveDirectoryTenantId'
const identity = { type: 'SystemAssigned' }
const byIdentity = (resourceId: string) => ({ identity, deadLetterDestination: blob(resourceId) })

it('creates what is missing, with nothing but what metadata asks for', () => {
  const endpointUrl = 'https://app.example.com/api/events?code=query-marked'
  const destination = { endpointType: 'WebHook', properties: { endpointUrl, deliveryAttributeMappings: [ours] } }
  const properties = { destination, eventDeliverySchema: 'CloudEventSchemaV1_0' }
  expect(decideUpsert(undefined, desire())).toEqual({
    ...{ action: 'create', properties, because: 'there is none', warnings: [] },
    changes: [
      { field: 'destination.endpointType', after: 'WebHook' },
      { field: 'destination.properties.deliveryAttributeMappings.x-eventgrid-binding-token', after: '(redacted)' },
      { field: 'destination.properties.endpointUrl', after: 'https://app.example.com/api/events?(redacted)' },
      { field: 'eventDeliverySchema', after: 'CloudEventSchemaV1_0' },
    ],
  })
})

const setBy = {
  ...{ filter: { subjectBeginsWith: '/a' }, labels: ['x'], retryPolicy: { maxDeliveryAttempts: 3 } },
  ...{ deadLetterDestination: blob('/r'), expirationTimeUtc: '2030-01-01', novelty: { of: [1], resourceId: 7 } },
}
const isTrue = { operatorType: 'BoolEquals', key: 'b', value: true } as const
const stringIn = (...values: string[]) => ({ key: 'data.k', values, operatorType: 'StringIn' }) as const
const defaults = {
  ...{ maxDeliveryAttempts: 30, eventTimeToLiveMinutes: 1440 },
  ...{ maxEventsPerBatch: 1, preferredBatchSizeInKilobytes: 64 },
}
const resets: Partial<SubscriptionSettings> = {
  ...{ subjectBeginsWith: resetToDefault, labels: resetToDefault },
  ...{ deadLetter: resetToDefault, maxEventsPerBatch: resetToDefault },
}

it.each<[name: string, there: SubscriptionProperties, wanted?: Partial<SubscriptionSettings>]>([
  ['what it created, with all defaults filled in', {}],
  ['an attribute name in other letter case', withAttributes({ ...ours, name: ours.name.toLowerCase() })],
  ["the operator's attributes beside ours", withAttributes(theirs, ours)],
  ["the operator's secret attribute that cannot be read", withAttributes(attribute('x', 'Hidden', true), ours)],
  ['our credential among others', withAttributes(attribute(ours.name, `key3.c , key2.b , ${header}`, true))],
  [
    'a URL whose host is spelled otherwise',
    { destination: webHook({ endpointUrl: 'https://APP.example.com:443/api/events?code=query-marked' }) },
  ],
  ["the operator's filter, labels, retries, dead-letter, expiry and what we do not know", setBy],
  ['dead-lettering by a managed identity', { deadLetterWithResourceIdentity: byIdentity('/r') }],
  ['settings that name the defaults', {}, defaults],
  ['resets of what is at its default', {}, resets],
  [
    'event types and labels in another order',
    { filter: { includedEventTypes: ['b', 'a'] }, labels: ['q', 'p'] },
    { includedEventTypes: ['a', 'b'], labels: ['p', 'q'] },
  ],
  [
    'advanced filters and their values in another order',
    { filter: { advancedFilters: [isTrue, stringIn('b', 'a')] } },
    { advancedFilters: [stringIn('a', 'b'), isTrue] },
  ],
  [
    'advanced filters whose members are in another order',
    { filter: { advancedFilters: [{ key: 'a', operatorType: 'StringIn', values: ['x'] }, isTrue] } },
    { advancedFilters: [{ operatorType: 'StringIn', key: 'a', values: ['x'] }, isTrue] },
  ],
  [
    'the same dead-letter account, whatever its letter case and identity',
    { deadLetterWithResourceIdentity: byIdentity('/subscriptions/s') },
    { deadLetter: { storageAccountId: '/Subscriptions/S', container: 'c' } },
  ],
])('keeps %s', (_name, there, wanted = {}) => {
  expect(decideUpsert(standing(there), settings(wanted))).toEqual({ action: 'keep' })
})

describe('writes', () => {
  const subjects = ['filter.subjectBeginsWith', 'filter.subjectEndsWith']
  it.each<{
    name: string
    there?: SubscriptionProperties
    wanted?: Partial<SubscriptionSettings>
    input?: Partial<PushMetadata>
    /** @default 'patch' */
    action?: 'replace'
    because: string
    properties?: object
    /** Paths in ARM's words. */
    fields?: readonly string[]
  }>([
    {
      name: 'a filter whole, with what the operator set in it',
      there: { filter: { subjectEndsWith: '.png', isSubjectCaseSensitive: true, novelty: 1 } },
      wanted: { subjectBeginsWith: '/a' },
      because: 'other filter.subjectBeginsWith',
      properties: {
        filter: { subjectBeginsWith: '/a', subjectEndsWith: '.png', isSubjectCaseSensitive: true, novelty: 1 },
      },
      fields: ['filter.subjectBeginsWith'],
    },
    {
      name: 'an advanced filter whose value changes',
      there: { filter: { advancedFilters: [{ operatorType: 'BoolEquals', key: 'k', value: true }] } },
      wanted: { advancedFilters: [{ operatorType: 'BoolEquals', key: 'k', value: false }] },
      because: 'other filter.advancedFilters',
      properties: { filter: { advancedFilters: [{ operatorType: 'BoolEquals', key: 'k', value: false }] } },
    },
    {
      name: 'a range whose ends change places',
      there: { filter: { advancedFilters: [{ operatorType: 'NumberInRange', key: 'k', values: [[2, 1]] }] } },
      wanted: { advancedFilters: [{ operatorType: 'NumberInRange', key: 'k', values: [[1, 2]] }] },
      because: 'other filter.advancedFilters',
    },
    {
      name: 'a filter where there is none',
      there: { filter: undefined },
      wanted: { subjectBeginsWith: '/a', subjectEndsWith: '.b' },
      because: 'other filter.subjectBeginsWith, filter.subjectEndsWith',
      properties: { filter: { subjectBeginsWith: '/a', subjectEndsWith: '.b' } },
      fields: subjects,
    },
    {
      name: 'an endpoint in the place of what is no URL',
      there: { destination: webHook({ endpointUrl: '/x', endpointBaseUrl: '/x' }) },
      because: 'other destination.properties.endpointUrl',
      fields: ['destination.properties.endpointUrl'],
    },
    {
      name: 'a web hook of which nothing is told',
      there: { destination: { endpointType: 'WebHook', novelty: 1 } },
      because: `our delivery credential is missing, other ${tokenField}, destination.properties.endpointUrl`,
      properties: {
        destination: {
          novelty: 1,
          properties: { endpointUrl: 'https://app.example.com/api/events?code=query-marked' },
        },
      },
    },
    {
      name: 'several fields, told in the order of the alphabet',
      there: { labels: ['x'], filter: { subjectEndsWith: '.b' } },
      wanted: { labels: ['y', 'x'], subjectEndsWith: '.c', subjectBeginsWith: '/a', maxEventsPerBatch: 2 },
      because:
        'other destination.properties.maxEventsPerBatch, filter.subjectBeginsWith, filter.subjectEndsWith, labels',
      fields: ['destination.properties.maxEventsPerBatch', ...subjects, 'labels'],
    },
    {
      name: 'retries',
      wanted: { maxDeliveryAttempts: 5 },
      because: 'other retryPolicy.maxDeliveryAttempts',
      properties: { retryPolicy: { maxDeliveryAttempts: 5, eventTimeToLiveInMinutes: 1440 } },
      fields: ['retryPolicy.maxDeliveryAttempts'],
    },
    {
      name: 'the schema, which counts as set',
      there: { eventDeliverySchema: 'EventGridSchema' },
      because: 'other eventDeliverySchema',
      properties: { eventDeliverySchema: 'CloudEventSchemaV1_0' },
    },
    {
      name: 'the destination whole, with the URL, all attributes and what we do not know',
      there: {
        destination: webHook({
          deliveryAttributeMappings: [theirs],
          maxEventsPerBatch: 9,
          minimumTlsVersionAllowed: '1.2',
        }),
      },
      because: `our delivery credential is missing, other ${tokenField}`,
      properties: {
        destination: {
          endpointType: 'WebHook',
          properties: {
            endpointUrl: 'https://app.example.com/api/events?code=query-marked',
            ...{ maxEventsPerBatch: 9, preferredBatchSizeInKilobytes: 64, minimumTlsVersionAllowed: '1.2' },
            deliveryAttributeMappings: [theirs, ours],
          },
        },
      },
      fields: ['destination.properties.deliveryAttributeMappings.x-eventgrid-binding-token'],
    },
    {
      name: 'our credential in front of the newest of other replicas',
      there: withAttributes(theirs, attribute(ours.name, 'key4.d,key3.c,key2.b', true)),
      because: `our delivery credential is missing, other ${tokenField}`,
      properties: {
        destination: {
          properties: {
            deliveryAttributeMappings: [theirs, attribute(ours.name, `${header},key4.d,key3.c`, true)],
          },
        },
      },
    },
    {
      name: 'an attribute of ours that is not secret',
      there: withAttributes(attribute(ours.name, header, false)),
      because: `other ${tokenField}`,
      properties: { destination: { properties: { deliveryAttributeMappings: [ours] } } },
    },
    {
      name: 'the whole of what failed, and tells the rest of the reasons too',
      there: { ...withAttributes(theirs), provisioningState: 'Failed' },
      action: 'replace',
      because: `it is Failed, our delivery credential is missing, other ${tokenField}`,
    },
    ...(['Failed', 'Canceled', 'AwaitingManualAction'] as const).map((state) => ({
      name: `the whole of what is ${state}, with what the operator set`,
      there: { provisioningState: state, expirationTimeUtc: '2030-01-01', labels: ['x'], novelty: 1 },
      action: 'replace' as const,
      because: `it is ${state}`,
      properties: { expirationTimeUtc: '2030-01-01', labels: ['x'], novelty: 1 },
    })),
    {
      name: 'the whole where a setting goes back to its default',
      there: { filter: { subjectBeginsWith: '/a', subjectEndsWith: '.b' }, labels: ['x'] },
      wanted: { subjectBeginsWith: resetToDefault },
      action: 'replace',
      because: 'other filter.subjectBeginsWith',
      properties: { filter: { subjectEndsWith: '.b' }, labels: ['x'] },
    },
    {
      name: 'the whole where nothing is left of a field',
      there: { filter: { subjectBeginsWith: '/a' } },
      wanted: { subjectBeginsWith: resetToDefault },
      action: 'replace',
      because: 'other filter.subjectBeginsWith',
      fields: ['filter.subjectBeginsWith'],
    },
    {
      name: 'the whole where deliveries no longer carry a secret',
      there: withAttributes(ours, theirs),
      input: { deliveryAuthentication: { kind: 'none' } },
      action: 'replace',
      because: `other ${tokenField}`,
      properties: { destination: { properties: { deliveryAttributeMappings: [theirs] } } },
    },
    {
      name: 'the Entra pair, and takes our attribute away, where deliveries prove themselves by Entra',
      input: { deliveryAuthentication: { kind: 'entra', tenantId: 't1', clientId: 'c1', eventGridClientId: 'e1' } },
      action: 'replace',
      because: `other ${entraFields}, ${tokenField}`,
      properties: {
        destination: {
          properties: { azureActiveDirectoryTenantId: 't1', azureActiveDirectoryApplicationIdOrUri: 'c1' },
        },
      },
    },
  ])('$name', ({ there, wanted = {}, input = {}, action = 'patch', because, properties = {}, fields }) => {
    const upsert = decideUpsert(
      standing(there),
      desire({ ...input, settings: { eventDeliverySchema: 'CloudEventSchemaV1_0', ...wanted } }),
    )
    expect(upsert).toMatchObject({ action, properties })
    if (!('changes' in upsert)) throw new Error('nothing is written')
    expect(upsert.because).toEqual(because)
    if (fields) expect(upsert.changes.map(({ field }) => field)).toEqual(fields)
    const members = new Set(upsert.changes.map(({ field }) => field.split('.')[0]))
    if (action === 'patch') expect(Object.keys(upsert.properties)).toEqual([...members])
    expect(JSON.stringify({ ...upsert, properties: {} })).not.toMatch(/marked|key\d\./)
  })
})

it('keeps the Entra pair in other letter case', () => {
  const deliveryAuthentication = { kind: 'entra', tenantId: 't1', clientId: 'c1', eventGridClientId: 'e1' } as const
  const pair = { azureActiveDirectoryTenantId: 'T1', azureActiveDirectoryApplicationIdOrUri: 'C1' }
  const there = standing({ destination: webHook({ deliveryAttributeMappings: [theirs], ...pair }) })
  expect(decideUpsert(there, desire({ deliveryAuthentication }))).toEqual({ action: 'keep' })
})

it("shows a change's values as they are before and after, and those of a secret attribute not at all", () => {
  const there = standing({
    ...{ labels: ['x'], provisioningState: 'Failed' },
    destination: webHook({
      endpointUrl: 'https://old.example.com/?q',
      deliveryAttributeMappings: [attribute(ours.name, 'key2.b', true)],
    }),
  })
  expect(decideUpsert(there, settings({ labels: ['z', 'y'] }))).toMatchObject({
    changes: [
      { before: '(redacted)', after: '(redacted)' },
      { before: 'https://old.example.com/?(redacted)', after: 'https://app.example.com/api/events?(redacted)' },
      { field: 'labels', before: ['x'], after: ['y', 'z'] },
    ],
  })
})

it('leaves what a reset would take, where Azure may show its default in words', () => {
  const there = standing({ labels: ['x'], filter: { subjectBeginsWith: '/a' }, deadLetterDestination: blob('/r') })
  expect(decideUpsert(there, settings(resets), 'ignore')).toEqual({ action: 'keep' })
  const { properties } = { properties: {}, ...decideUpsert(there, settings(resets)) }
  for (const gone of ['labels', 'filter', 'deadLetterDestination']) expect(properties).not.toHaveProperty(gone)
})

it.each(['Creating', 'Updating', 'Deleting'])('waits while it is %s', (provisioningState) => {
  expect(decideUpsert(standing({ provisioningState }), desire())).toEqual({ action: 'wait', state: provisioningState })
})

it('falls back on the base URL where the full one is not told, which a query of ours makes a difference', () => {
  const { endpointUrl: _hidden, ...shown } = webHook().properties
  const there = standing({ destination: { endpointType: 'WebHook', properties: shown } })
  expect(decideUpsert(there, desire())).toMatchObject({ action: 'patch' })
  expect(decideUpsert(desire().assumeHidden(there), desire())).toEqual({ action: 'keep' })
  const withoutQuery = desire({ subscriberEndpoint: 'https://app.example.com/api/events' })
  expect(decideUpsert(there, withoutQuery)).toEqual({ action: 'keep' })
})

describe('another destination', () => {
  const hub = { endpointType: 'EventHub', properties: { resourceId: '/x' } }
  const wrapped = (destination: NonNullable<SubscriptionProperties['destination']>) => ({
    destination: undefined,
    deliveryWithResourceIdentity: { identity, destination },
  })
  it.each<{ name: string; there: SubscriptionProperties; says: string }>([
    { name: 'an event hub', there: { destination: hub }, says: 'EventHub' },
    { name: 'an event hub by a managed identity', there: wrapped(hub), says: 'EventHub by a managed identity' },
    { name: 'none that is told', there: { destination: undefined }, says: 'another destination' },
  ])('is refused, or replaced where replaceDestination says so: $name', ({ there, says }) => {
    const refused = { action: 'refuse', because: expect.stringContaining(says) }
    expect(decideUpsert(standing(there), desire())).toMatchObject(refused)
    const replaced = decideUpsert(standing({ ...there, labels: ['x'] }), desire({ replaceDestination: true }))
    const properties = { destination: { properties: { deliveryAttributeMappings: [ours] } }, labels: ['x'] }
    expect(replaced).toMatchObject({ action: 'replace', properties, warnings: [expect.stringContaining(says)] })
    expect(replaced).not.toHaveProperty('properties.deliveryWithResourceIdentity')
  })

  it('is none where it is a web hook by a managed identity, which stays', () => {
    const there = standing(wrapped(webHook({ deliveryAttributeMappings: [] })))
    const destination = { properties: { deliveryAttributeMappings: [ours] } }
    const properties = { deliveryWithResourceIdentity: { identity, destination } }
    expect(decideUpsert(there, desire())).toMatchObject({ action: 'patch', properties })
  })
})

it("writes no secret attribute of the operator's that cannot be read, and other fields all the same", () => {
  const there = withAttributes(attribute('x-theirs', 'Hidden', true), ours)
  const refused = { action: 'refuse', because: expect.stringContaining('x-theirs') }
  expect(decideUpsert({ ...there, provisioningState: 'Failed' }, desire())).toMatchObject(refused)
  expect(decideUpsert(there, settings({ maxEventsPerBatch: 7 }))).toMatchObject(refused)
  const labels = ['a']
  expect(decideUpsert(there, settings({ labels }))).toMatchObject({ action: 'patch', properties: { labels } })
})

describe('whatever stands and whatever is asked for', () => {
  const setting = <T>(of: fc.Arbitrary<T>) => fc.option(fc.oneof(of, fc.constant(resetToDefault)), { nil: undefined })
  const word = fc.constantFrom('a', 'b', '/c')
  const filter = fc.record({
    operatorType: fc.constantFrom('StringIn', 'StringContains'),
    key: word,
    values: fc.array(word, { minLength: 1 }),
  })
  const anySettings = fc.record({
    includedEventTypes: setting(fc.array(word, { minLength: 1 })),
    subjectBeginsWith: setting(word),
    subjectEndsWith: setting(word),
    advancedFilters: setting(fc.array(filter, { maxLength: 3 })),
    maxDeliveryAttempts: setting(fc.integer({ min: 1, max: 30 })),
    maxEventsPerBatch: setting(fc.integer({ min: 1, max: 5000 })),
    deadLetter: setting(fc.record({ storageAccountId: word, container: word })),
    labels: setting(fc.array(word, { maxLength: 3 })),
    eventDeliverySchema: fc.constantFrom('CloudEventSchemaV1_0' as const, 'EventGridSchema' as const),
  })
  const anyWanted = fc.record({
    settings: anySettings,
    deliveryAuthentication: fc.constantFrom<PushMetadata['deliveryAuthentication']>(
      { kind: 'none' },
      { kind: 'secret', sources: [new Secret('s')] },
      { kind: 'entra', tenantId: 't', clientId: 'c', eventGridClientId: 'e' },
    ),
    subscriberEndpoint: fc.constantFrom('https://one.example.com/api/events?x=1', 'https://two.example.com/api/events'),
    replaceDestination: fc.constant(true),
  })
  const anyStanding = fc
    .record({
      provisioningState: fc.constantFrom('Succeeded', 'Failed', 'Canceled'),
      mappings: fc.subarray([ours, theirs]),
      filter: fc.record({
        subjectBeginsWith: word,
        includedEventTypes: fc.array(word),
        isSubjectCaseSensitive: fc.boolean(),
        novelty: word,
      }),
      labels: fc.array(word, { maxLength: 2 }),
      wrapped: fc.boolean(),
      hub: fc.boolean(),
    })
    .map(({ mappings, wrapped, hub, ...rest }) =>
      standing({
        ...rest,
        novelty: { deep: ['x'] },
        destination: hub
          ? { endpointType: 'EventHub' }
          : webHook({ deliveryAttributeMappings: mappings, minimumTlsVersionAllowed: '1.2' }),
        ...(wrapped ? { deadLetterWithResourceIdentity: byIdentity('/r') } : { deadLetterDestination: blob('/r') }),
      }),
    )

  it('one write brings it about, keeps what metadata does not name, and changes neither', () => {
    fc.assert(
      fc.property(anyStanding, anyWanted, (there, changes) => {
        const wanted = desire(changes)
        const before = JSON.stringify(there)
        const upsert = decideUpsert(there, wanted)
        expect(JSON.stringify(there)).toBe(before)
        if (!('properties' in upsert)) return expect(upsert).toEqual({ action: 'keep' })
        const kept = upsert.action === 'patch' ? there : {}
        const read = readSubscriptionProperties({
          properties: { ...kept, ...upsert.properties, provisioningState: 'Succeeded' },
        })
        if (!('properties' in read)) throw new Error(read.fault)
        expect(decideUpsert(read.properties, wanted)).toEqual({ action: 'keep' })
        const { settings } = changes
        const of = ({ filter, labels, destination, ...rest }: SubscriptionProperties) => ({
          novelties: [rest.novelty, filter?.novelty, filter?.isSubjectCaseSensitive],
          subject: settings.subjectBeginsWith === undefined && filter?.subjectBeginsWith,
          labels: settings.labels === undefined && (labels ?? []),
          deadLetter: settings.deadLetter === undefined && [
            rest.deadLetterDestination,
            rest.deadLetterWithResourceIdentity,
          ],
          hook: there.destination?.endpointType === 'WebHook' && [
            destination?.properties?.minimumTlsVersionAllowed,
            destination?.properties?.deliveryAttributeMappings?.filter(({ name }) => name !== ours.name) ?? [],
          ],
        })
        expect(of(read.properties)).toEqual(of(there))
      }),
      { numRuns: 500 },
    )
  })
})
