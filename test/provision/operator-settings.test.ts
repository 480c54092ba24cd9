/** What an operator has set in an event subscription stands after whatever this binding writes, also what no version of ours knows. */
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { connectNamespace, connectSubscription } from '../../src/binding/upkeep/subscription-control.ts'
import { silentLogger } from '../../src/core/logger.ts'
import { parseMetadata } from '../../src/metadata/typed/parse-metadata.ts'
import { tryWorlds } from '../support/random-worlds.ts'
import { startKeepingArm } from './keeping-arm.ts'

type Fields = Readonly<Record<string, string>>
type Node = Readonly<Record<string, unknown>>

const group = '/subscriptions/s1/resourceGroups/rg1'
const eventGrid = `${group}/providers/Microsoft.EventGrid`
const storage = `${group}/providers/Microsoft.Storage/storageAccounts/photos`
const namespaceTopic = `${eventGrid}/namespaces/shop/topics/orders`

/** Members of a version that nobody knows yet, with names that mean something elsewhere and values that seem to say nothing. */
const value = fc.oneof(
  fc.constantFrom('', [], {}, 0, false, 'Succeeded'),
  fc.string(),
  fc.integer(),
  fc.array(fc.string(), { maxLength: 2 }),
  fc.dictionary(
    fc.constantFrom('a', 'properties', 'filter', 'labels', 'values', 'isSecret', 'value'),
    fc.oneof(fc.string(), fc.constantFrom([], {}, 1, true)),
    { maxKeys: 3 },
  ),
)
const young = fc.dictionary(fc.constantFrom('young', 'youngToo'), value, { maxKeys: 2 })

/** A record, with young members beside those given. */
const aged = (members: Record<string, fc.Arbitrary<unknown>>) =>
  fc.tuple(young, fc.record(members)).map(([more, given]) => ({ ...more, ...given }))
const constants = (members: Node) =>
  Object.fromEntries(Object.entries(members).map(([name, of]) => [name, fc.constant(of)]))

const userAssignedIdentity = `${group}/providers/Microsoft.ManagedIdentity/userAssignedIdentities/i`
const identity = fc
  .constantFrom({ type: 'SystemAssigned' }, { type: 'UserAssigned', userAssignedIdentity })
  .chain((given) => aged(constants(given)))
const attribute = (name: string, type: string, properties: Node) =>
  aged({ ...constants({ name, type }), properties: aged(constants(properties)) })
const attributes = fc
  .tuple(
    attribute('x-theirs', 'Static', { value: 'v', isSecret: true }),
    attribute('x-plain', 'Static', { value: 'w', isSecret: false }),
    attribute('x-data', 'Dynamic', { sourceField: 'data.a' }),
  )
  .chain((all) => fc.subarray(all, { minLength: 1 }))
const theirFilter = { operatorType: 'StringIn', key: 'subject', values: ['a', 'b'] }
const blob = aged({
  endpointType: fc.constant('StorageBlob'),
  properties: aged(constants({ resourceId: '/subscriptions/s1/their-account', blobContainerName: 'theirs' })),
})

/** Stands alone, or by a managed identity. */
const eitherWay = (alone: string, wrapper: string, inner: string, of: fc.Arbitrary<unknown>) =>
  fc
    .boolean()
    .chain((byIdentity) =>
      byIdentity
        ? aged({ identity, [inner]: of }).map((wrapped) => ({ [wrapper]: wrapped }))
        : of.map((given) => ({ [alone]: given })),
    )

/** An event subscription outside of namespaces, as an operator left it. */
const classic = (destination: fc.Arbitrary<unknown>) =>
  fc
    .tuple(
      aged({
        provisioningState: fc.constantFrom('Succeeded', 'Failed', 'Canceled'),
        filter: aged({
          ...constants({ subjectEndsWith: '.png', isSubjectCaseSensitive: true }),
          ...constants({ enableAdvancedFilteringOnArrays: true }),
          advancedFilters: aged(constants(theirFilter)).map((one) => [one]),
        }),
        retryPolicy: aged(constants({ maxDeliveryAttempts: 7, eventTimeToLiveInMinutes: 60 })),
        ...constants({ labels: ['theirs'], eventDeliverySchema: 'CloudEventSchemaV1_0' }),
        expirationTimeUtc: fc.constant('2030-01-01T00:00:00Z'),
      }),
      eitherWay('destination', 'deliveryWithResourceIdentity', 'destination', destination),
      eitherWay('deadLetterDestination', 'deadLetterWithResourceIdentity', 'deadLetterDestination', blob),
    )
    .map(([rest, delivery, deadLetters]): Node => ({ ...rest, ...delivery, ...deadLetters }))

const webHook = aged({
  endpointType: fc.constant('WebHook'),
  properties: aged({
    ...constants({ endpointUrl: 'https://old.example.com/events?code=theirs', minimumTlsVersionAllowed: '1.2' }),
    ...constants({ azureActiveDirectoryTenantId: 't9', azureActiveDirectoryApplicationIdOrUri: 'api://theirs' }),
    ...constants({ maxEventsPerBatch: 5, preferredBatchSizeInKilobytes: 128 }),
    deliveryAttributeMappings: attributes,
  }),
})
const toNamespace = aged({
  endpointType: fc.constant('NamespaceTopic'),
  properties: aged({
    resourceId: fc.constantFrom(namespaceTopic, `${eventGrid}/namespaces/old/topics/t`),
    deliveryAttributeMappings: attributes,
  }),
})
const queue = aged({
  provisioningState: fc.constantFrom('Succeeded', 'Failed', 'Canceled'),
  ...constants({ eventDeliverySchema: 'CloudEventSchemaV1_0', expirationTimeUtc: '2030-01-01T00:00:00Z' }),
  deliveryConfiguration: aged({
    deliveryMode: fc.constant('Queue'),
    queue: aged({
      ...constants({ receiveLockDurationInSeconds: 120, maxDeliveryCount: 4, eventTimeToLive: 'PT1H' }),
      deadLetterDestinationWithResourceIdentity: aged({ identity, deadLetterDestination: blob }),
    }),
  }),
  filtersConfiguration: aged({
    includedEventTypes: fc.constant(['a.b']),
    filters: aged(constants(theirFilter)).map((one) => [one]),
  }),
})

/** What is changed in the component, and which members of an event subscription are its own then. */
interface Component {
  readonly fields: Fields
  readonly sets: readonly string[]
}
const changing = (fields: Fields, ...sets: readonly string[]): Component => ({ fields, sets })
const both: readonly Component[] = [
  changing({}),
  changing({ maxDeliveryAttempts: '3' }, 'maxDeliveryAttempts', 'maxDeliveryCount'),
  changing({ eventTimeToLive: '2h' }, 'eventTimeToLiveInMinutes', 'eventTimeToLive'),
  changing({ includedEventTypes: 'c.d' }, 'includedEventTypes'),
  changing({ advancedFilters: JSON.stringify([theirFilter]) }),
  changing(
    { deadLetterStorageAccountId: storage.replace('photos', 'ours'), deadLetterContainer: 'ours' },
    ...['deadLetterDestination.properties.resourceId', 'blobContainerName'],
  ),
]
const ofPush: readonly Component[] = [
  changing({ deliveryToken: 'rotated-token-of-32-characters--' }),
  changing({ maxEventsPerBatch: '9' }, 'maxEventsPerBatch'),
  // Back to its default, which takes a PUT.
  changing({ maxEventsPerBatch: 'default' }, 'maxEventsPerBatch'),
  changing({ subjectBeginsWith: '/b' }),
  changing({ labels: 'ours' }, 'labels'),
  changing({ deliveryAuthentication: 'none' }),
  changing(
    { deliveryAuthentication: 'entra' },
    ...['azureActiveDirectoryTenantId', 'azureActiveDirectoryApplicationIdOrUri'],
  ),
]

const credential = { tenantId: 't1', clientId: 'c1', clientSecret: 'client-secret-of-ours', subscriptionId: 's1' }
const push = { ...credential, subscriberEndpoint: 'https://app.example.com/api/events', handshakePort: '9000' }
const pull = { ...credential, deliveryMode: 'pull', namespaceTopic, namespaceEndpoint: 'https://shop.example.com' }
const named = { eventSubscriptionName: 'events1' }

/** The members of an operator that do not stand as they were, by path. Attributes are found by their names. */
function lost(theirs: unknown, now: unknown, sets: ReadonlySet<string>, path: readonly string[] = []): string[] {
  const name = path.at(-1) ?? ''
  const isOurs = [...sets].some((suffix) => path.join('.').endsWith(suffix))
  if (isOurs || name === 'provisioningState') return []
  if (name === 'deliveryAttributeMappings' && Array.isArray(theirs) && Array.isArray(now)) {
    const named = (wanted: string) => now.find((each) => each.name === wanted)
    return theirs.flatMap((one) => lost(one, named(one.name), sets, [...path, one.name]))
  }
  const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && !Array.isArray(value)
  // Down to what we do not know, which has to stand as it was.
  if (isNode(theirs) && isNode(now) && !/^young/.test(name))
    return Object.keys(theirs).flatMap((key) => lost(theirs[key], now[key], sets, [...path, key]))
  return isDeepStrictEqual(theirs, now)
    ? []
    : [`${path.join('.')}: ${JSON.stringify(theirs)} is now ${JSON.stringify(now)}`]
}
const tokenAttribute = 'deliveryAttributeMappings.x-eventgrid-binding-token'

/** Writes as the component changes from one to the next, and finds what of the operator's does not stand at the end. */
async function openWrites() {
  const arm = await startKeepingArm()
  const options = {
    ...{ endpoints: { resourceManager: arm.url, ca: arm.ca }, logger: silentLogger },
    hostCredential: { getToken: async () => ({ token: 't', expiresOnTimestamp: Date.now() + 3_600_000 }) },
  }
  const task = { patience: 'timeout', signal: new AbortController().signal } as const
  async function write(given: Readonly<Record<string, Node>>, components: readonly Component[]) {
    // As ARM would send it.
    const standing: Readonly<Record<string, Node>> = JSON.parse(JSON.stringify(given))
    arm.stand(standing)
    const ours = new Set<string>(['destination.properties.resourceId', 'endpointUrl'])
    for (const { fields, sets } of components) {
      for (const name of sets) ours.add(name)
      const { push, pull } = parseMetadata(fields, { credentialGiven: true })
      const control = push ? connectSubscription({ ...options, input: push }) : pull && connectNamespace(pull, options)
      const foretold = ((await control?.plan(task)) ?? []).flatMap(({ changes }) => changes)
      // What a rehearsal shows as gone is something that the component itself sets.
      const gone = foretold.flatMap(({ field, after }) => (after === undefined ? [field] : []))
      const own = [...ours, tokenAttribute]
      expect(gone.filter((field) => !own.some((suffix) => field.endsWith(suffix)))).toEqual([])
      await control?.upsert(task)
    }
    return Object.keys(standing).flatMap((path) => lost(standing[path], arm.standing(path), ours))
  }
  return { arm, write }
}

const runs = { count: 20 }

it('of push survives adopting, rotation, changed fields and a PUT over Failed, and a rehearsal shows nothing of it as gone', async () => {
  const { arm, write } = await openWrites()
  const scopes = fc.constantFrom(group, storage, `${eventGrid}/topics/orders`, `${eventGrid}/systemTopics/photos`)
  const changes = fc.array(fc.constantFrom(...both, ...ofPush), { minLength: 1, maxLength: 4 })
  await tryWorlds(fc.tuple(scopes, classic(webHook), changes), runs, async ([scope, theirs, steps]) => {
    const between = /systemTopics/.test(scope) ? '' : '/providers/Microsoft.EventGrid'
    const components = steps.map(({ fields, sets }) => ({ fields: { ...push, ...named, scope, ...fields }, sets }))
    expect(await write({ [`${scope}${between}/eventSubscriptions/events1`]: theirs }, components)).toEqual([])
  })
  expect(arm.misuse).toEqual([])
  expect([...new Set(arm.writes)].sort()).toEqual(['PATCH 2025-02-15', 'PUT 2025-02-15'])
})

it('of pull survives the same, in the Queue and in what forwards to it', async () => {
  const { arm, write } = await openWrites()
  const changes = fc.array(fc.constantFrom(...both), { minLength: 1, maxLength: 4 })
  await tryWorlds(fc.tuple(queue, classic(toNamespace), changes), runs, async ([ofQueue, forwarding, steps]) => {
    const standing = {
      [`${namespaceTopic}/eventSubscriptions/events1`]: ofQueue,
      [`${storage}/providers/Microsoft.EventGrid/eventSubscriptions/events1`]: forwarding,
    }
    const all = { ...pull, ...named, scope: storage }
    const components = steps.map(({ fields, sets }) => ({ fields: { ...all, ...fields }, sets }))
    expect(await write(standing, components)).toEqual([])
  })
  expect(arm.misuse).toEqual([])
})
