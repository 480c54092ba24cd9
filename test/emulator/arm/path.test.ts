import { describe, expect, it } from 'vitest'
import { parseArmPath, parseArmScope } from '../../../src/emulator/arm/call/path.ts'

const group = '/subscriptions/1/resourceGroups/rg'
const topic = `${group}/providers/Microsoft.EventGrid/topics/t`
const provider = 'providers/Microsoft.EventGrid'

describe('a path', () => {
  it.each([
    [
      `/subscriptions/1/${provider}/eventSubscriptions/s`,
      { kind: 'eventSubscription', scope: '/subscriptions/1', name: 's', nested: false },
    ],
    [
      `${topic}/${provider}/eventSubscriptions/s`,
      { kind: 'eventSubscription', scope: topic, name: 's', nested: false },
    ],
    [
      `${topic}/${provider}/eventSubscriptions/s/getFullUrl`,
      { kind: 'eventSubscription', scope: topic, name: 's', nested: false, action: 'getFullUrl' },
    ],
    [`${topic}/eventSubscriptions/s`, { kind: 'eventSubscription', scope: topic, name: 's', nested: true }],
    [
      `${group}/${provider}/domains/d/topics/t/eventSubscriptions/s`,
      {
        kind: 'eventSubscription',
        scope: `${group}/${provider}/domains/d/topics/t`,
        name: 's',
        nested: true,
      },
    ],
    [`${topic}/${provider}/eventSubscriptions`, { kind: 'eventSubscriptions', scope: topic, nested: false }],
    [
      `/subscriptions/1/${provider}/locations/west/eventSubscriptions`,
      { kind: 'eventSubscriptions', scope: '/subscriptions/1', nested: false, location: 'west' },
    ],
    [
      `/subscriptions/1/${provider}/locations/west/topicTypes/t/eventSubscriptions`,
      {
        kind: 'eventSubscriptions',
        scope: '/subscriptions/1',
        nested: false,
        location: 'west',
        topicType: 't',
      },
    ],
    [
      `/subscriptions/1/${provider}/locations/west/operationsStatus/o`,
      { kind: 'operation', scope: '/subscriptions/1', form: 'operationsStatus', id: 'o' },
    ],
    [
      `/SUBSCRIPTIONS/1/PROVIDERS/microsoft.eventgrid/EVENTSUBSCRIPTIONS/S`,
      { kind: 'eventSubscription', scope: '/SUBSCRIPTIONS/1', name: 'S', nested: false },
    ],
    [topic, { kind: 'resource', type: 'topics', scope: group, names: ['t'], isList: false }],
    [
      `${topic}/listKeys`,
      { kind: 'resource', type: 'topics', scope: group, names: ['t'], isList: false, action: 'listKeys' },
    ],
    [`${group}/${provider}/topics`, { kind: 'resource', type: 'topics', scope: group, names: [], isList: true }],
    [`/subscriptions/1/${provider}`, { kind: 'provider', scope: '/subscriptions/1', namespace: 'Microsoft.EventGrid' }],
    [
      `/subscriptions/1/${provider}/Register`,
      { kind: 'provider', scope: '/subscriptions/1', namespace: 'Microsoft.EventGrid', action: 'register' },
    ],
    [group, { kind: 'container', scope: group }],
    ['/subscriptions/1/providers', { kind: 'providers', scope: '/subscriptions/1' }],
    [
      '/subscriptions/1/operationresults/o',
      { kind: 'operation', scope: '/subscriptions/1', form: 'operationResults', id: 'o' },
    ],
    [
      `${group}/providers/Microsoft.Authorization/roleAssignments/a`,
      { kind: 'roleAssignment', scope: group, name: 'a' },
    ],
    [
      `${topic}/${provider}/eventSubscriptions/a%2Fb`,
      { kind: 'eventSubscription', scope: topic, name: 'a/b', nested: false },
    ],
  ])('%s is taken apart', (path, expected) => {
    expect(parseArmPath(path)).toEqual(expected)
  })

  it.each([
    `${topic}/${provider}/eventSubscriptions/s/getFullUrl/more`,
    `${topic}/listKeys/more`,
    `/subscriptions/1/${provider}/locations/west/operationsStatus/o/more`,
    `/subscriptions/%e0%a4%a`,
  ])('%s is none that is known', (path) => {
    expect(parseArmPath(path)).toBeUndefined()
  })
})

describe('a scope', () => {
  it.each([
    { scope: '/subscriptions/1', expected: { subscriptionId: '1' } },
    { scope: group, expected: { subscriptionId: '1', resourceGroup: 'rg' } },
    { scope: topic, expected: { resource: { namespace: 'Microsoft.EventGrid', types: ['topics'], names: ['t'] } } },
    { scope: `${group}/providers/A.B/c/d/e/f`, expected: { resource: { types: ['c', 'e'], names: ['d', 'f'] } } },
  ])('$scope is taken apart', ({ scope, expected }) => {
    expect(parseArmScope(scope)).toMatchObject(expected)
  })

  it.each([
    '/',
    '/subscriptions',
    '/subscriptions/1/resourceGroups',
    '/subscriptions/1/other/rg',
    `${group}/providers/A.B`,
    `${group}/providers/A.B/c`,
    `${group}/providers/A.B/c/d/e`,
    '/subscriptions//resourceGroups/rg',
  ])('%s is none', (scope) => {
    expect(parseArmScope(scope)).toBeUndefined()
  })
})
