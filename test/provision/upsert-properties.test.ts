import type { EventSubscription } from '@azure/arm-eventgrid'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Secret } from '../../src/core/secret.ts'
import { resetToDefault } from '../../src/metadata/fields/setting.ts'
import type { InputMetadata, SubscriptionSettings } from '../../src/metadata/typed/metadata.ts'
import { canonicalSubscription } from '../../src/provision/decide/canonical-subscription.ts'
import { decideUpsert, type ExistingSubscription, type Upsert } from '../../src/provision/decide/decide-upsert.ts'
import { mergeSubscription } from '../../src/provision/decide/merge-subscription.ts'
import { desire, ours, standing, theirs, webHook } from './support/standing.ts'

describe('whatever stands and whatever is asked for', () => {
  const setting = <T>(of: fc.Arbitrary<T>) => fc.option(fc.oneof(of, fc.constant(resetToDefault)), { nil: undefined })
  const word = fc.constantFrom('a', 'b', 'All', '/c')
  const filters = fc.array(
    fc.record({
      operatorType: fc.constantFrom('StringIn', 'StringContains'),
      key: word,
      values: fc.array(word, { minLength: 1 }),
    }),
    { maxLength: 3 },
  )
  const present = <T extends object>(value: T): Partial<T> => {
    const rest = { ...value }
    for (const key in rest) if (rest[key] === undefined) delete rest[key]
    return rest
  }
  const anySettings = fc
    .record({
      includedEventTypes: setting(fc.array(word, { minLength: 1 })),
      subjectBeginsWith: setting(word),
      subjectEndsWith: setting(word),
      advancedFilters: setting(filters),
      maxDeliveryAttempts: setting(fc.integer({ min: 1, max: 30 })),
      eventTimeToLiveMinutes: setting(fc.integer({ min: 1, max: 1440 })),
      maxEventsPerBatch: setting(fc.integer({ min: 1, max: 5000 })),
      preferredBatchSizeInKilobytes: setting(fc.integer({ min: 1, max: 1024 })),
      deadLetter: setting(fc.record({ storageAccountId: word, container: word })),
      labels: setting(fc.array(word, { maxLength: 3 })),
    })
    .map((each) => present(each) as Partial<SubscriptionSettings>)
  const anyDesire = fc
    .record({
      settings: anySettings,
      schema: fc.constantFrom('CloudEventSchemaV1_0' as const, 'EventGridSchema' as const),
      delivery: fc.constantFrom<InputMetadata['deliveryAuthentication']>(
        { kind: 'none' },
        { kind: 'secret', sources: [new Secret('s')] },
        { kind: 'entra', tenantId: 't', clientId: 'c', eventGridClientId: 'e' },
      ),
      host: fc.constantFrom('one', 'two'),
    })
    .map(({ settings, schema, delivery, host }) =>
      desire({
        settings: { ...settings, eventDeliverySchema: schema },
        deliveryAuthentication: delivery,
        subscriberEndpoint: `https://${host}.example.com/api/events?x=1`,
        replaceDestination: true,
      }),
    )
  const anyStanding = fc
    .record({
      provisioningState: fc.constantFrom<NonNullable<EventSubscription['provisioningState']>[]>(
        'Succeeded',
        'Failed',
        'Canceled',
      ),
      mappings: fc.subarray([ours, theirs, { ...ours, value: 'Hidden' }]).filter((some) => some.length < 3),
      filter: fc.record({
        subjectBeginsWith: word,
        includedEventTypes: fc.array(word),
        isSubjectCaseSensitive: fc.boolean(),
      }),
      labels: fc.array(word, { maxLength: 2 }),
      wrapped: fc.boolean(),
      hub: fc.boolean(),
    })
    .map(({ provisioningState, mappings, filter, labels, wrapped, hub }) => {
      const blob = { endpointType: 'StorageBlob', resourceId: '/r', blobContainerName: 'c' } as const
      return standing({
        provisioningState,
        filter,
        labels,
        destination: hub ? { endpointType: 'EventHub' } : webHook({ deliveryAttributeMappings: mappings }),
        ...(wrapped
          ? { deadLetterWithResourceIdentity: { identity: { type: 'SystemAssigned' }, deadLetterDestination: blob } }
          : { deadLetterDestination: blob }),
      })
    })

  /** What Azure does with a decision. */
  function apply({ subscription, unknownSettings }: ExistingSubscription, upsert: Upsert): ExistingSubscription {
    if (upsert.action === 'patch') {
      return { subscription: { ...subscription, ...upsert.body }, unknownSettings }
    }
    if (upsert.action !== 'create' && upsert.action !== 'replace') return { subscription, unknownSettings }
    return { subscription: { ...upsert.body, provisioningState: 'Succeeded' }, unknownSettings }
  }

  it('one write brings it about: the next look keeps it', () => {
    fc.assert(
      fc.property(anyStanding, anyDesire, (there, wanted) => {
        expect(decideUpsert(apply(there, decideUpsert(there, wanted)), wanted)).toEqual({ action: 'keep' })
      }),
      { numRuns: 500 },
    )
  })

  it('no write ever holds a hidden value or a URL of null', () => {
    fc.assert(
      fc.property(anyStanding, anyDesire, (there, wanted) => {
        const upsert = decideUpsert(there, wanted)
        expect(JSON.stringify('body' in upsert ? upsert.body : {})).not.toMatch(/"Hidden"|"endpointUrl":null/)
      }),
    )
  })

  it('every write keeps what metadata does not name', () => {
    const isOurs = ({ name }: { name?: string }) => name?.toLowerCase() === ours.name.toLowerCase()
    const webHookOf = ({ destination }: EventSubscription) =>
      destination?.endpointType === 'WebHook' && 'deliveryAttributeMappings' in destination ? destination : undefined
    fc.assert(
      fc.property(anyStanding, anyDesire, ({ subscription }, wanted) => {
        const body = mergeSubscription(subscription, wanted)
        const { settings } = wanted
        const unlessSet = <T>(setting: unknown, value: T) => (setting === undefined ? value : undefined)
        const kept = ({ filter, labels, expirationTimeUtc, ...rest }: EventSubscription) => ({
          filter: canonicalSubscription({
            filter: {
              subjectBeginsWith: unlessSet(settings.subjectBeginsWith, filter?.subjectBeginsWith) ?? '',
              includedEventTypes: unlessSet(settings.includedEventTypes, filter?.includedEventTypes) ?? [],
              isSubjectCaseSensitive: filter?.isSubjectCaseSensitive ?? false,
            },
          }),
          labels: unlessSet(settings.labels, labels ?? [])?.toSorted(),
          expirationTimeUtc,
          deadLetter: unlessSet(settings.deadLetter, [rest.deadLetterDestination, rest.deadLetterWithResourceIdentity]),
          identity: settings.deadLetter === resetToDefault ? undefined : rest.deadLetterWithResourceIdentity?.identity,
          theirs: (webHookOf(rest)?.deliveryAttributeMappings ?? []).filter((mapping) => !isOurs(mapping)),
        })
        expect(kept(body)).toEqual(kept(subscription))
      }),
      { numRuns: 500 },
    )
  })

  it('no decision changes what stood, or what was asked for', () => {
    fc.assert(
      fc.property(anyStanding, anyDesire, (there, wanted) => {
        const before = JSON.stringify([there, wanted])
        decideUpsert(there, wanted)
        expect(JSON.stringify([there, wanted])).toBe(before)
      }),
    )
  })
})
