import { describe, expect, it } from 'vitest'
import { parseArmPath, parseArmScope } from '../../../src/emulator/arm/call/path.ts'

const group = '/subscriptions/1/resourceGroups/rg'
const topic = `${group}/providers/Microsoft.EventGrid/topics/t`
const provider = 'providers/Microsoft.EventGrid'

describe('a path', () => {
  it.each([
    {
      path: `/subscriptions/1/${provider}/eventSubscriptions/s`,
      expected: { kind: 'eventSubscription', scope: '/subscriptions/1', name: 's', nested: false },
    },
    {
      path: `${topic}/${provider}/eventSubscriptions/s`,
      expected: { kind: 'eventSubscription', scope: topic, name: 's', nested: false },
    },
    {
      path: `${topic}/${provider}/eventSubscriptions/s/getFullUrl`,
      expected: { kind: 'eventSubscription', scope: topic, name: 's', nested: false, action: 'getFullUrl' },
    },
    {
      path: `${topic}/eventSubscriptions/s`,
      expected: { kind: 'eventSubscription', scope: topic, name: 's', nested: true },
    },
    {
      path: `${group}/${provider}/domains/d/topics/t/eventSubscriptions/s`,
      expected: {
        kind: 'eventSubscription',
        scope: `${group}/${provider}/domains/d/topics/t`,
        name: 's',
        nested: true,
      },
    },
    {
      path: `${topic}/${provider}/eventSubscriptions`,
      expected: { kind: 'eventSubscriptions', scope: topic, nested: false },
    },
    {
      path: `/subscriptions/1/${provider}/locations/west/eventSubscriptions`,
      expected: { kind: 'eventSubscriptions', scope: '/subscriptions/1', nested: false, location: 'west' },
    },
    {
      path: `/subscriptions/1/${provider}/locations/west/topicTypes/t/eventSubscriptions`,
      expected: {
        kind: 'eventSubscriptions',
        scope: '/subscriptions/1',
        nested: false,
        location: 'west',
        topicType: 't',
      },
    },
    {
      path: `/subscriptions/1/${provider}/locations/west/operationsStatus/o`,
      expected: { kind: 'operation', scope: '/subscriptions/1', form: 'operationsStatus', id: 'o' },
    },
    {
      path: `/SUBSCRIPTIONS/1/PROVIDERS/microsoft.eventgrid/EVENTSUBSCRIPTIONS/S`,
      expected: { kind: 'eventSubscription', scope: '/SUBSCRIPTIONS/1', name: 'S', nested: false },
    },
    { path: topic, expected: { kind: 'resource', type: 'topics', scope: group, names: ['t'], isList: false } },
    {
      path: `${topic}/listKeys`,
      expected: { kind: 'resource', type: 'topics', scope: group, names: ['t'], isList: false, action: 'listKeys' },
    },
    {
      path: `${group}/${provider}/topics`,
      expected: { kind: 'resource', type: 'topics', scope: group, names: [], isList: true },
    },
    {
      path: `/subscriptions/1/${provider}`,
      expected: { kind: 'provider', scope: '/subscriptions/1', namespace: 'Microsoft.EventGrid' },
    },
    {
      path: `/subscriptions/1/${provider}/Register`,
      expected: { kind: 'provider', scope: '/subscriptions/1', namespace: 'Microsoft.EventGrid', action: 'register' },
    },
    { path: group, expected: { kind: 'container', scope: group } },
    { path: '/subscriptions/1/providers', expected: { kind: 'providers', scope: '/subscriptions/1' } },
    {
      path: '/subscriptions/1/operationresults/o',
      expected: { kind: 'operation', scope: '/subscriptions/1', form: 'operationResults', id: 'o' },
    },
    {
      path: `${group}/providers/Microsoft.Authorization/roleAssignments/a`,
      expected: { kind: 'roleAssignment', scope: group, name: 'a' },
    },
    {
      path: `${topic}/${provider}/eventSubscriptions/a%2Fb`,
      expected: { kind: 'eventSubscription', scope: topic, name: 'a/b', nested: false },
    },
  ])('$path is taken apart', ({ path, expected }) => {
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
