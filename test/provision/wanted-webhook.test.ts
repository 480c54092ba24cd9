import { describe, expect, it } from 'vitest'
import { resetToDefault } from '../../src/metadata/fields/field.ts'
import type { SubscriptionProperties, WebHookProperties } from '../../src/provision/values.ts'
import { attribute, blob, desire, ours, settings, standing, theirs, webHook } from './standing.ts'

const [here, url] = ['https://app.example.com/api/events', 'https://app.example.com/api/events?code=query-marked']
const old = 'https://old.example.com'
const hub = { destination: { endpointType: 'EventHub', properties: { resourceId: '/x' } } }
const at = (properties: WebHookProperties) => ({ destination: { endpointType: 'WebHook', properties } })

describe('an event subscription that delivers', () => {
  it.each<[name: string, there: SubscriptionProperties, away?: string, moves?: string]>([
    ['here', standing()],
    ['here with another query', at({ endpointUrl: `${here}?other` })],
    ['here, as its base URL alone tells', at({ endpointBaseUrl: here })],
    ['here by its base URL, before all', at({ endpointBaseUrl: here, endpointUrl: `${here}/x` })],
    ['to a web hook whose URL is not told', at({})],
    ['to another path, and shows no query', at({ endpointUrl: `${here}/x?marked` }), `${here}/x`],
    ['to another host', at({ endpointUrl: `${old}:444/e?marked` }), `${old}:444/e`, 'old.example.com:444'],
    ['to another host by its base URL', at({ endpointBaseUrl: `${old}/` }), `${old}/`, 'old.example.com'],
    ['to what is no URL', at({ endpointUrl: 'x' }), 'x'],
  ])('%s', (_name, there, away, moves) => {
    const wanted = desire({ deliveryAuthentication: { kind: 'none' } })
    expect(wanted.awayFrom(there)).toEqual(away && `it delivers to ${away}, not to ${here}`)
    const warning = `moving the event subscription from ${moves} to app.example.com: ${moves} gets no more events of it`
    expect(wanted.warningsOf(there)).toEqual(moves === undefined ? [] : [warning])
    expect(wanted.refusalOf(there)).toBeUndefined()
  })

  it('to another kind of destination', () => {
    expect(desire().awayFrom(hub)).toBe('it delivers to EventHub')
    expect(desire().assumeHidden(hub)).toBe(hub)
    expect(desire().lacksCredential(hub)).toBe(true)
  })
})

describe('delivery credentials', () => {
  const others = (count: number) => {
    const value = Array.from({ length: count }, (_, index) => `key${index}.x`).join(',')
    return at({ endpointUrl: url, deliveryAttributeMappings: [attribute(ours.name, value, true)] })
  }
  it.each([
    { name: 'two', there: others(2), lacks: true, warnings: [] },
    { name: 'three', there: others(3), lacks: true, warnings: [expect.stringContaining('at most 3')] },
    { name: 'none, for ours is there', there: standing(), lacks: false, warnings: [] },
  ])('of other replicas are warned of where one has to go: $name', ({ there, lacks, warnings }) => {
    expect(desire().lacksCredential(there)).toBe(lacks)
    expect(desire().warningsOf(there)).toEqual(warnings)
    const without = desire({ deliveryAuthentication: { kind: 'none' } })
    expect(without.lacksCredential(there)).toBe(false)
    expect(without.warningsOf(there)).toEqual([])
  })
})

describe('what a plain read hides counts as wanted:', () => {
  const hidden = attribute(ours.name, 'Hidden', true)
  it.each<{ name: string; there: WebHookProperties; assumed: WebHookProperties }>([
    {
      name: 'the query of our URL, and our credential',
      there: { endpointBaseUrl: here, deliveryAttributeMappings: [theirs, hidden] },
      assumed: { endpointBaseUrl: here, endpointUrl: url, deliveryAttributeMappings: [theirs, ours] },
    },
    {
      name: 'of another URL nothing',
      there: { endpointBaseUrl: `${old}/`, maxEventsPerBatch: 2 },
      assumed: { endpointBaseUrl: `${old}/`, maxEventsPerBatch: 2, deliveryAttributeMappings: [] },
    },
    { name: 'of no URL nothing', there: {}, assumed: { deliveryAttributeMappings: [] } },
  ])('$name', ({ there, assumed }) => {
    const rest = { labels: ['x'], destination: { ...at(there).destination, novelty: 1 } }
    const { deliveryWithResourceIdentity, ...plain } = desire().assumeHidden(rest)
    expect(deliveryWithResourceIdentity).toBeUndefined()
    expect(plain).toEqual({ labels: ['x'], destination: { endpointType: 'WebHook', novelty: 1, properties: assumed } })
    const wrapped = { deliveryWithResourceIdentity: { identity: { type: 'SystemAssigned' }, ...at(there) } }
    expect(desire().assumeHidden(wrapped).deliveryWithResourceIdentity).toEqual({
      identity: { type: 'SystemAssigned' },
      ...at(assumed),
    })
  })

  it('no credential where deliveries need none', () => {
    const there = at({ deliveryAttributeMappings: [hidden] })
    expect(desire({ deliveryAuthentication: { kind: 'none' } }).assumeHidden(there)).toMatchObject(there)
  })
})

describe('merge', () => {
  const merge = (there: SubscriptionProperties, wanted = desire({ replaceDestination: true })) =>
    wanted.merge(there, { resets: 'apply' })

  it('writes nothing that Azure fills in', () => {
    const filter = { includedEventTypes: [], isSubjectCaseSensitive: true }
    expect(merge(standing({ systemData: { createdBy: 'x' }, filter }))).toEqual({
      destination: {
        endpointType: 'WebHook',
        properties: {
          ...{ endpointUrl: url, maxEventsPerBatch: 1, preferredBatchSizeInKilobytes: 64 },
          deliveryAttributeMappings: [ours],
        },
      },
      eventDeliverySchema: 'CloudEventSchemaV1_0',
      filter: { isSubjectCaseSensitive: true },
      retryPolicy: { maxDeliveryAttempts: 30, eventTimeToLiveInMinutes: 1440 },
    })
  })

  it('keeps what it does not know of a web hook, and nothing of another destination', () => {
    expect(merge({ destination: { ...webHook(), novelty: 1 } })).toHaveProperty('destination.novelty', 1)
    expect(merge({ destination: { ...hub.destination, novelty: 1 } }).destination).toEqual({
      endpointType: 'WebHook',
      properties: { endpointUrl: url, deliveryAttributeMappings: [ours] },
    })
  })

  it('sets batches and retries', () => {
    const given = { maxEventsPerBatch: 9, preferredBatchSizeInKilobytes: 99 }
    const retryPolicy = { maxDeliveryAttempts: 3, eventTimeToLiveInMinutes: 60 }
    const wanted = settings({ ...given, maxDeliveryAttempts: 3, eventTimeToLiveMinutes: 60 })
    expect(merge({}, wanted)).toMatchObject({ destination: { properties: given }, retryPolicy })
  })

  const plain = <T>(deadLetterDestination: T) => ({ deadLetterDestination })
  const byIdentity = <T>(deadLetterDestination: T) => ({
    deadLetterWithResourceIdentity: { identity: { type: 'SystemAssigned' }, deadLetterDestination },
  })
  const novel = (resourceId: string) => ({ ...blob(resourceId), novelty: 1 })
  const to = { storageAccountId: '/new', container: 'c' }
  it.each<[name: string, there: SubscriptionProperties, is: object, given?: typeof to | typeof resetToDefault]>([
    ['stay', plain(blob('/r')), plain(blob('/r'))],
    ['are set where there are none', {}, plain(blob('/new')), to],
    ['move, with what is not known of them', plain(novel('/r')), plain(novel('/new')), to],
    ['move from another kind', plain({ ...novel('/r'), endpointType: 'Novel' }), plain(blob('/new')), to],
    ['stay with a managed identity', byIdentity(blob('/r')), byIdentity(blob('/r'))],
    ["move with the managed identity, which is the operator's", byIdentity(novel('/r')), byIdentity(novel('/new')), to],
    ['end, the identity too', { ...plain(blob('/r')), ...byIdentity(blob('/r')) }, {}, resetToDefault],
  ])('dead letters %s', (_name, there, is, given) => {
    const { deadLetterDestination, deadLetterWithResourceIdentity } = merge(there, settings({ deadLetter: given }))
    expect({ deadLetterDestination, deadLetterWithResourceIdentity }).toEqual(is)
  })
})
