import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BrokenRule } from '../../../src/metadata/fields/faults.ts'
import { parseScope, scopeKey } from '../../../src/metadata/fields/scope.ts'

const group = '/subscriptions/1/resourceGroups/rg'
const topic = `${group}/providers/Microsoft.EventGrid/topics/orders`

describe('parseScope', () => {
  const step = (type: string, name: string) => ({ type, name })
  const upper = topic.toUpperCase()

  it.each([
    ['/subscriptions/1/', { kind: 'subscription', id: '/subscriptions/1', subscriptionId: '1' }],
    ['/subscriptions/1', { kind: 'subscription', id: '/subscriptions/1' }],
    [group, { kind: 'resourceGroup', id: group, resourceGroup: 'rg' }],
    [
      `${group}/providers/Microsoft.Storage/storageAccounts/store`,
      { kind: 'resource', provider: 'Microsoft.Storage', path: [step('storageAccounts', 'store')] },
    ],
    [`${topic}/`, { kind: 'topic', id: topic, path: [step('topics', 'orders')] }],
    [upper, { kind: 'topic', id: upper, path: [step('TOPICS', 'ORDERS')] }],
    [
      `${group}/providers/Microsoft.EventGrid/domains/d/topics/t`,
      { kind: 'resource', path: [step('domains', 'd'), step('topics', 't')] },
    ],
  ])('parses %s', (text, expected) => expect(parseScope(text)).toMatchObject(expected))

  it.each([
    { name: 'no leading slash', text: 'subscriptions/1' },
    { name: 'nothing', text: '/' },
    { name: 'another beginning', text: '/tenants/1' },
    { name: 'no subscription', text: '/subscriptions' },
    { name: 'a placeholder', text: '/subscriptions/{subscriptionId}/' },
    { name: 'an empty part', text: '/subscriptions//resourceGroups/rg' },
    { name: 'two trailing slashes', text: '/subscriptions/1//' },
    { name: 'resourceGroups without a name', text: '/subscriptions/1/resourceGroups' },
    { name: 'another word for resourceGroups', text: '/subscriptions/1/groups/rg' },
    { name: 'a resource without a group', text: '/subscriptions/1/providers/Microsoft.Storage/storageAccounts/x' },
    { name: 'providers without a namespace', text: `${group}/providers` },
    { name: 'a namespace without a resource', text: `${group}/providers/Microsoft.Storage` },
    { name: 'a type without a name', text: `${group}/providers/Microsoft.Storage/storageAccounts` },
    { name: 'an event subscription', text: `${topic}/providers/Microsoft.EventGrid/eventSubscriptions/x` },
    { name: 'a step upwards', text: '/subscriptions/../resourceGroups/rg' },
    { name: 'a query', text: '/subscriptions/1?x=1' },
    { name: 'an escape', text: '/subscriptions/%2e%2e' },
    { name: 'a space', text: '/subscriptions/1 2' },
    { name: 'a line break', text: '/subscriptions/1\n' },
    { name: 'a part of over 260 characters', text: `/subscriptions/${'1'.repeat(261)}` },
  ])('refuses $name', ({ text }) => expect(() => parseScope(text)).toThrow(BrokenRule))

  const name = fc
    .stringMatching(/^[A-Za-z0-9][A-Za-z0-9._-]{0,20}$/)
    .filter((text) => text.toLowerCase() !== 'providers')
  const pairs = fc.array(fc.tuple(name, name), { minLength: 1, maxLength: 3 })
  const resource = fc.tuple(name, name, name, pairs).map(([subscription, resourceGroup, provider, path]) => ({
    text: `/subscriptions/${subscription}/resourceGroups/${resourceGroup}/providers/${provider}/${path.flat().join('/')}`,
    parts: {
      subscriptionId: subscription,
      resourceGroup,
      provider,
      path: path.map(([type, name]) => ({ type, name })),
    },
  }))

  it('gives back every part of any resource, and the same for its own id', () => {
    fc.assert(
      fc.property(resource, fc.constantFrom('', '/'), ({ text, parts }, slash) => {
        const scope = parseScope(text + slash)
        expect(scope).toMatchObject({ id: text, ...parts })
        expect(parseScope(scope.id)).toEqual(scope)
      }),
    )
  })

  it('has one key whatever the letter case', () => {
    fc.assert(
      fc.property(resource, ({ text }) => scopeKey(parseScope(text.toUpperCase())) === scopeKey(parseScope(text))),
    )
  })
})
