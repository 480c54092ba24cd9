import { describe, expect, it } from 'vitest'
import {
  isActive,
  isChanging,
  isProvisioned,
  readSubscriptionProperties,
  withoutNothing,
} from '../../src/provision/values.ts'

describe('readSubscriptionProperties', () => {
  it.each([undefined, '<html>', {}, { properties: [] }])('sees no event subscription in %j', (answer) => {
    expect(readSubscriptionProperties(answer)).toEqual({ fault: 'it has no properties' })
  })

  const below = (parent: string, paths: readonly string[]) => paths.map((path) => `${parent}.${path}`)
  const destination = [
    'endpointType',
    ...below('properties', ['endpointUrl', 'endpointBaseUrl', 'resourceId']),
    ...below('properties', ['azureActiveDirectoryTenantId', 'azureActiveDirectoryApplicationIdOrUri']),
    ...below('properties.deliveryAttributeMappings.0', ['name', 'type']),
    ...below('properties.deliveryAttributeMappings.0.properties', ['value', 'isSecret', 'sourceField']),
  ]
  it.each([
    'provisioningState',
    ...below('destination', destination),
    ...below('deliveryWithResourceIdentity', below('destination', destination)),
    'filter.advancedFilters.0',
    'retryPolicy',
    ...below('deadLetterDestination', ['endpointType', 'properties']),
    'deadLetterWithResourceIdentity.deadLetterDestination.endpointType',
    'deliveryConfiguration.deliveryMode',
    'deliveryConfiguration.queue.deadLetterDestinationWithResourceIdentity.deadLetterDestination.endpointType',
    'filtersConfiguration.filters.0',
  ])('names the part that has another type than any event subscription: %s', (path) => {
    const wrong = path.split('.').reduceRight<unknown>((part, name) => (name === '0' ? [part] : { [name]: part }), [])
    const fault = expect.stringMatching(`^properties\\.${path}: `)
    expect(readSubscriptionProperties({ properties: wrong })).toEqual({ fault })
  })

  it('takes null for nothing, and a prototype for no member', () => {
    const properties = JSON.parse(`{
      "labels": null,
      "filter": { "includedEventTypes": null, "advancedFilters": [{ "key": null, "novelty": [null, 1] }] },
      "destination": { "endpointType": "WebHook", "properties": { "endpointUrl": null } },
      "novelty": { "__proto__": { "x": 1 } }, "__proto__": { "provisioningState": "Failed" }
    }`)
    const read = readSubscriptionProperties({ properties })
    const filter = { advancedFilters: [{ novelty: [null, 1] }] }
    const destination = { endpointType: 'WebHook', properties: {} }
    expect(JSON.stringify(read)).toBe(JSON.stringify({ properties: { destination, filter, novelty: {} } }))
  })
})

it.each([
  { state: undefined, is: { changing: false, working: true, active: true } },
  { state: 'Succeeded', is: { changing: false, working: true, active: true } },
  { state: 'Updating', is: { changing: true, working: false, active: true } },
  { state: 'Creating', is: { changing: true, working: false, active: false } },
  { state: 'Deleting', is: { changing: true, working: false, active: false } },
  { state: 'Failed', is: { changing: false, working: false, active: false } },
  { state: 'AwaitingManualAction', is: { changing: false, working: false, active: false } },
])('knows what delivers, and what somebody changes: $state', ({ state, is }) => {
  const existing = { provisioningState: state }
  expect({ changing: isChanging(existing), working: isProvisioned(existing), active: isActive(existing) }).toEqual(is)
})

describe('withoutNothing', () => {
  it('leaves out known members that are empty, at any depth', () => {
    const nothing = {
      ...{ destination: {}, deliveryWithResourceIdentity: { identity: {}, destination: { properties: {} } } },
      ...{ filter: { subjectBeginsWith: '', subjectEndsWith: '', includedEventTypes: [], advancedFilters: [] } },
      ...{ labels: [], retryPolicy: {}, expirationTimeUtc: '', eventDeliverySchema: '' },
      ...{ properties: { deliveryAttributeMappings: [] } },
      ...{ deadLetterDestination: {}, deadLetterWithResourceIdentity: { deadLetterDestination: {} } },
      ...{ deadLetterDestinationWithResourceIdentity: {}, filtersConfiguration: { filters: [] } },
      ...{ deliveryConfiguration: { queue: { eventTimeToLive: '' } } },
    }
    expect(withoutNothing(nothing)).toEqual({})
  })

  it('leaves what says something, and what is not known', () => {
    const something = {
      ...{ filter: { subjectBeginsWith: '/a', novelty: '' }, labels: [''], retryPolicy: { maxDeliveryAttempts: 0 } },
      ...{ novelty: {}, list: [], text: '' },
    }
    expect(withoutNothing({ ...something, missing: undefined })).toEqual(something)
    expect(withoutNothing({ missing: undefined })).not.toHaveProperty('missing')
  })
})
