import { expect, it } from 'vitest'
import { resetToDefault } from '../../src/metadata/fields/field.ts'
import { settingsThatStay, stayingFilters } from '../../src/provision/decide.ts'
import { attribute, blob, ours, settings, standing, theirs, webHook } from './standing.ts'

it('are none where Azure shows its defaults alone', () => {
  const shown = standing({
    destination: webHook({ deliveryAttributeMappings: [ours] }),
    filter: { isSubjectCaseSensitive: false, enableAdvancedFilteringOnArrays: false, includedEventTypes: ['all'] },
    systemData: { createdBy: 'x' },
  })
  expect(settingsThatStay(shown, settings({}))).toEqual([])
})

it('are what an operator set, by its path, and no secret', () => {
  const existing = standing({
    destination: webHook({
      deliveryAttributeMappings: [
        theirs,
        attribute('x-secret', 'operator-marked', true),
        attribute('x-plain', 'p', false),
      ],
      minimumTlsVersionAllowed: '1.2',
    }),
    filter: { subjectBeginsWith: '/a', subjectEndsWith: '.b', isSubjectCaseSensitive: true, includedEventTypes: ['x'] },
    labels: ['m', 'l'],
    retryPolicy: { maxDeliveryAttempts: 5, eventTimeToLiveInMinutes: 1440 },
    deadLetterDestination: blob('/R'),
    novelty: { of: 1 },
  })
  const wanted = settings({ subjectBeginsWith: '/a', subjectEndsWith: resetToDefault })
  const stays = settingsThatStay(existing, wanted)
  expect(stays.map(({ field, value }) => [field, value])).toEqual([
    ['deadLetterDestination.endpointType', 'StorageBlob'],
    ['deadLetterDestination.properties.blobContainerName', 'c'],
    ['deadLetterDestination.properties.resourceId', '/r'],
    ['destination.properties.deliveryAttributeMappings.x-plain', { type: 'Static', properties: { value: 'p' } }],
    ['destination.properties.deliveryAttributeMappings.x-secret', '(redacted)'],
    [
      'destination.properties.deliveryAttributeMappings.x-theirs',
      { type: 'Dynamic', properties: { sourceField: 'data.key' } },
    ],
    ['destination.properties.minimumTlsVersionAllowed', '1.2'],
    ['filter.includedEventTypes', ['x']],
    ['filter.isSubjectCaseSensitive', true],
    ['labels', ['l', 'm']],
    ['novelty.of', 1],
    ['retryPolicy.maxDeliveryAttempts', 5],
  ])
  expect(stayingFilters(stays)).toContain('filter.includedEventTypes, filter.isSubjectCaseSensitive (')
  expect(stayingFilters(stays)).not.toContain('labels')
})

it('has no line for the log where no filter stays', () => {
  expect(stayingFilters([{ field: 'labels', value: ['l'] }])).toBeUndefined()
})
