import { describe, expect, it } from 'vitest'
import { parseMetadata } from '../../src/metadata/typed/parse-metadata.ts'
import { decideUpsert } from '../../src/provision/decide.ts'
import { wantedForPull } from '../../src/provision/needs-queue.ts'
import type { SubscriptionProperties } from '../../src/provision/values.ts'

const namespaceTopic = '/subscriptions/s1/resourceGroups/rg/providers/Microsoft.EventGrid/namespaces/n/topics/t'
const account = '/subscriptions/s1/resourceGroups/rg/providers/Microsoft.Storage/storageAccounts/a'
const deadLetters = { deadLetterStorageAccountId: account, deadLetterContainer: 'dead' }
const identity = { type: 'SystemAssigned' }
const blobs = { endpointType: 'StorageBlob', properties: { resourceId: account, blobContainerName: 'dead' } }

const wantedByPull = (fields: Record<string, string>) => {
  const common = { deliveryMode: 'pull', azureCredential: 'managedIdentity', eventSubscriptionName: 'app' }
  const { pull } = parseMetadata({ ...common, namespaceTopic, ...fields })
  if (!pull) throw new Error('no pull side')
  return wantedForPull(pull)
}

const stringIn = { operatorType: 'StringIn', key: 'data.k', values: ['v'] }

describe('the Queue event subscription of pull', () => {
  const wantedQueue = (fields: Record<string, string>) => {
    const [queue, ...others] = wantedByPull(fields)
    expect(others).toEqual([])
    if (!queue) throw new Error('none is wanted')
    return queue
  }
  const queue = (settings: object, rest: object = {}): SubscriptionProperties => ({
    provisioningState: 'Succeeded',
    eventDeliverySchema: 'CloudEventSchemaV1_0',
    deliveryConfiguration: {
      deliveryMode: 'Queue',
      queue: { receiveLockDurationInSeconds: 60, maxDeliveryCount: 10, ...settings },
    },
    ...rest,
  })

  it('is created with all that metadata asks for, subjects as filters', () => {
    const wanted = wantedQueue({
      ...{ lockDuration: '90s', maxDeliveryAttempts: '5', eventTimeToLive: '2h', ...deadLetters },
      ...{ includedEventTypes: 'a,b', subjectBeginsWith: '/a', subjectEndsWith: '.b' },
      advancedFilters: JSON.stringify([stringIn]),
    })
    const properties = {
      eventDeliverySchema: 'CloudEventSchemaV1_0',
      deliveryConfiguration: {
        deliveryMode: 'Queue',
        queue: {
          ...{ receiveLockDurationInSeconds: 90, maxDeliveryCount: 5, eventTimeToLive: 'PT120M' },
          deadLetterDestinationWithResourceIdentity: { identity, deadLetterDestination: blobs },
        },
      },
      filtersConfiguration: {
        includedEventTypes: ['a', 'b'],
        filters: [
          { operatorType: 'StringBeginsWith', key: 'subject', values: ['/a'] },
          { operatorType: 'StringEndsWith', key: 'subject', values: ['.b'] },
          stringIn,
        ],
      },
    }
    expect(decideUpsert(undefined, wanted)).toMatchObject({ action: 'create', warnings: [] })
    expect(decideUpsert(undefined, wanted)).toHaveProperty('properties', properties)
  })

  it('needs no credential of ours, and hides nothing', () => {
    const there = queue({})
    expect(wantedQueue({}).lacksCredential(there)).toBe(false)
    expect(wantedQueue({}).assumeHidden(there)).toBe(there)
    expect(wantedQueue({}).awayFrom(there)).toBeUndefined()
  })

  const filters = [{ ...stringIn, novelty: 1 }]
  const other = { operatorType: 'StringIn', key: 'data.other', values: ['w'] }
  it.each([
    { name: 'are kept where metadata names none', fields: {}, is: filters },
    { name: 'are kept with what we do not know', fields: { advancedFilters: JSON.stringify([stringIn]) }, is: filters },
    {
      name: 'are kept beside that of a subject',
      fields: { subjectEndsWith: '.b' },
      is: [{ values: ['.b'] }, ...filters],
    },
    {
      name: 'are kept where a subject goes back to its default',
      fields: { subjectBeginsWith: 'default' },
      is: filters,
    },
    {
      name: 'are replaced by those of the metadata',
      fields: { advancedFilters: JSON.stringify([other]), subjectEndsWith: '.b' },
      is: [{ values: ['.b'] }, other],
    },
    { name: 'go where all go back to their default', fields: { advancedFilters: 'default' }, is: undefined },
  ])('its filters $name', ({ fields, is }) => {
    const there = queue({}, { filtersConfiguration: { filters, includedEventTypes: ['a'] } })
    const { filtersConfiguration } = wantedQueue(fields).merge(there, { resets: 'apply' })
    expect(filtersConfiguration).toEqual({
      includedEventTypes: ['a'],
      ...(is && { filters: is.map((one) => expect.objectContaining(one)) }),
    })
  })

  it.each([
    { operatorType: 'StringBeginsWith', field: 'subjectBeginsWith' },
    { operatorType: 'StringEndsWith', field: 'subjectEndsWith' },
  ])("$field takes the place of the operator's own $operatorType of the subject, and of that alone", (row) => {
    const { operatorType, field } = row
    const theirs = { operatorType, key: 'subject', values: ['theirs'] }
    const stay = ['StringBeginsWith', 'StringEndsWith', 'StringContains']
      .filter((name) => name !== operatorType)
      .map((name) => ({ ...theirs, operatorType: name }))
    const there = queue({}, { filtersConfiguration: { filters: [theirs, ...stay, { ...theirs, key: 'data.x' }] } })
    expect(wantedQueue({ [field]: 'ours' }).merge(there, { resets: 'apply' })).toHaveProperty(
      'filtersConfiguration.filters',
      [{ ...theirs, values: ['ours'] }, ...stay, { ...theirs, key: 'data.x' }],
    )
  })

  it('is kept where filters stand in another order, and their members too', () => {
    const other = { values: ['w'], key: 'data.l', operatorType: 'StringIn' }
    const there = queue({}, { filtersConfiguration: { filters: [other, stringIn] } })
    const { values, key, operatorType } = other
    const advancedFilters = JSON.stringify([stringIn, { operatorType, key, values }])
    expect(decideUpsert(there, wantedQueue({ advancedFilters }))).toEqual({ action: 'keep' })
  })

  it.each([
    { name: 'with the identity that the operator chose', endpointType: 'StorageBlob', novelty: 1 },
    { name: 'and not with what another kind of destination had', endpointType: 'Novel', novelty: undefined },
  ])('dead-letters go where metadata says, $name', ({ endpointType, novelty }) => {
    const chosen = { type: 'UserAssigned', userAssignedIdentity: '/i' }
    const deadLetterDestination = { endpointType, properties: { resourceId: '/r', novelty: 1 } }
    const there = queue({ deadLetterDestinationWithResourceIdentity: { identity: chosen, deadLetterDestination } })
    const { deliveryConfiguration } = wantedQueue(deadLetters).merge(there, { resets: 'apply' })
    expect(deliveryConfiguration).toHaveProperty('queue.deadLetterDestinationWithResourceIdentity', {
      identity: chosen,
      deadLetterDestination: { ...blobs, properties: { ...blobs.properties, ...(novelty && { novelty }) } },
    })
  })

  it('is not written to say the schema that it has without saying it', () => {
    const { eventDeliverySchema: _unsaid, ...there } = queue({})
    expect(decideUpsert(there, wantedQueue({}))).toEqual({ action: 'keep' })
  })

  it.each([
    { mode: { deliveryMode: 'Push' }, says: 'by Push ' },
    { mode: {}, says: 'by another mode ' },
    { mode: undefined, says: 'by another mode ' },
  ])('is refused where it delivers $says', ({ mode, says }) => {
    const there = { provisioningState: 'Succeeded', ...(mode && { deliveryConfiguration: mode }) }
    const because = expect.stringContaining(says)
    expect(decideUpsert(there, wantedQueue({}))).toMatchObject({ action: 'refuse', because })
    expect(wantedQueue({}).awayFrom(there)).toEqual(because)
  })

  it.each([
    { name: 'an hour', given: '60m', there: 'PT1H', keeps: true },
    { name: 'a day', given: '24h', there: 'P1D', keeps: true },
    { name: 'an hour and a half', given: '90m', there: 'PT1H30M0S', keeps: true },
    ...['PT3600S', 'PT60M0.0S', 'P0DT1H', 'PT0.5H30M', 'pt1h', 'P0W0DT0H60M0S'].map((there) => ({
      ...{ name: there, given: '1h', there, keeps: true },
    })),
    { name: 'parts with a comma', given: '75m', there: 'PT1,25H', keeps: true },
    { name: 'no duration', given: '2h', there: 'soon', keeps: false },
    { name: 'another time', given: '2h', there: 'PT1H', keeps: false },
  ])('compares durations by value: $name', ({ given, there, keeps }) => {
    const upsert = decideUpsert(queue({ eventTimeToLive: there }), wantedQueue({ eventTimeToLive: given }))
    expect(upsert.action).toBe(keeps ? 'keep' : 'patch')
  })
  it('compares lists without order, and leaves defaults and what we do not know', () => {
    const filtersConfiguration = { includedEventTypes: ['b', 'a'] }
    const there = queue({ novelty: 1 }, { filtersConfiguration, tags: { by: 'ops' } })
    const same = wantedQueue({ includedEventTypes: 'a,b', lockDuration: '60s' })
    expect(decideUpsert(there, same)).toEqual({ action: 'keep' })
    expect(decideUpsert(there, wantedQueue({ lockDuration: '90s' }))).toMatchObject({
      action: 'patch',
      because: 'other deliveryConfiguration.queue.receiveLockDurationInSeconds',
      properties: {
        deliveryConfiguration: { queue: { novelty: 1, maxDeliveryCount: 10, receiveLockDurationInSeconds: 90 } },
      },
    })
  })
})

describe('the event subscription that forwards to the namespace topic', () => {
  const scope = '/subscriptions/s1/resourceGroups/rg'
  const wantedForwarding = (fields: Record<string, string> = {}) => {
    const [, forwarding] = wantedByPull({ scope, ...fields })
    if (!forwarding) throw new Error('none is wanted')
    return forwarding
  }
  const forwards = (resourceId = namespaceTopic, rest: object = {}): SubscriptionProperties => ({
    provisioningState: 'Succeeded',
    eventDeliverySchema: 'CloudEventSchemaV1_0',
    destination: { endpointType: 'NamespaceTopic', properties: { resourceId, ...rest } },
  })
  const hub = { endpointType: 'EventHub', properties: { resourceId: '/hub' } }
  const novel = { endpointType: 'Novel', properties: { resourceId: namespaceTopic } }

  it('has the filters, and the Queue has none', () => {
    const fields = { includedEventTypes: 'a', subjectBeginsWith: '/a', subjectEndsWith: '.b' }
    const all = wantedByPull({ scope, ...fields, advancedFilters: JSON.stringify([stringIn]) })
    expect(all.map(({ place }) => place.sourceId)).toEqual([namespaceTopic, scope])
    const [queue, forwarding] = all.map((one) => one.merge({}, { resets: 'apply' }))
    expect(queue).not.toHaveProperty('filtersConfiguration')
    expect(forwarding).toEqual({
      eventDeliverySchema: 'CloudEventSchemaV1_0',
      destination: { endpointType: 'NamespaceTopic', properties: { resourceId: namespaceTopic } },
      filter: { ...fields, includedEventTypes: ['a'], advancedFilters: [stringIn] },
    })
  })

  it('keeps filters as they stand, with what we do not know of them', () => {
    const there = { ...forwards(), filter: { advancedFilters: [{ ...stringIn, novelty: 1 }] } }
    const wanted = wantedForwarding({ advancedFilters: JSON.stringify([stringIn]) })
    expect(decideUpsert(there, wanted)).toEqual({ action: 'keep' })
  })

  it.each<[name: string, there: SubscriptionProperties, away?: string, refusal?: string]>([
    ['the topic, in whatever letter case', forwards(namespaceTopic.toUpperCase())],
    ['another topic', forwards('/other'), '/other'],
    ['no topic that is told', { destination: { endpointType: 'NamespaceTopic' } }, 'NamespaceTopic'],
    ['an event hub', { destination: hub }, '/hub', 'EventHub'],
    ['a resource of that id that is no topic', { destination: novel }, namespaceTopic, 'Novel'],
    ['none that is told', {}, 'another destination', 'another destination'],
  ])('delivers to %s', (_name, there, away, refusal) => {
    const wanted = wantedForwarding()
    expect(wanted.awayFrom(there)).toEqual(away && `it delivers to ${away}, not to ${namespaceTopic}`)
    const because = refusal && `it delivers to ${refusal} and not to a namespace topic`
    expect(wanted.refusalOf(there)?.because).toEqual(because)
    expect(wantedForwarding({ replaceDestination: 'true' }).refusalOf(there)).toBeUndefined()
    expect(wanted.warningsOf(there)).toEqual(refusal ? [expect.stringContaining(`delivered to ${refusal};`)] : [])
  })

  it('takes over what forwards to another topic, and nothing of another kind of destination', () => {
    const { destination: moved } = wantedForwarding().merge(forwards('/other', { novelty: 1 }), { resets: 'apply' })
    expect(moved).toEqual(forwards(namespaceTopic, { novelty: 1 }).destination)
    const other = { destination: { ...hub, novelty: 1 } }
    const { destination: replaced } = wantedForwarding().merge(other, { resets: 'apply' })
    expect(replaced).toEqual(forwards().destination)
  })
})
