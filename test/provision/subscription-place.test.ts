import { expect, it } from 'vitest'
import { parseNamespaceTopic, parseScope } from '../../src/metadata/fields/scope.ts'
import { placeAt, placeOfQueue, subscriptionIdOf } from '../../src/provision/decide.ts'

const group = '/subscriptions/s1/resourceGroups/rg1'
const own = `${group}/providers/Microsoft.EventGrid`

it.each([
  { name: 'a subscription', scope: '/subscriptions/s1/', sourceId: '/subscriptions/s1', listsOthers: true },
  { name: 'a resource group', scope: group, listsOthers: true },
  { name: 'a custom topic', scope: `${own}/topics/t1` },
  { name: 'a domain', scope: `${own}/domains/d1` },
  { name: "a domain's topic", scope: `${own}/domains/d1/topics/t1` },
  { name: "another provider's resource of that type", scope: `${group}/providers/Contoso.Events/systemTopics/st1` },
])('$name has the extension path', ({ scope, sourceId = scope, listsOthers = false }) => {
  const listPath = `${sourceId}/providers/Microsoft.EventGrid/eventSubscriptions`
  const place = { kind: 'extension', name: 'orders', sourceId, listPath, listsOthers }
  expect(placeAt(parseScope(scope), 'orders')).toEqual(place)
})

it.each([
  { scope: `${own}/systemTopics/st1`, kind: 'systemTopic' },
  { scope: `${group}/providers/microsoft.eventgrid/SYSTEMTOPICS/st1`, kind: 'systemTopic' },
  { scope: `${own}/partnerTopics/pt1`, kind: 'partnerTopic' },
])('$scope has the nested path', ({ scope, kind }) => {
  const listPath = `${scope}/eventSubscriptions`
  const place = { kind, name: 'orders', sourceId: scope, listPath, listsOthers: false }
  expect(placeAt(parseScope(scope), 'orders')).toEqual(place)
})

it('has the place of a Queue event subscription below its namespace topic', () => {
  const sourceId = `${own}/namespaces/n1/topics/t1`
  const place = placeOfQueue(parseNamespaceTopic(sourceId), 'orders')
  const listPath = `${sourceId}/eventSubscriptions`
  expect(place).toEqual({ kind: 'namespaceTopic', name: 'orders', sourceId, listPath, listsOthers: false })
  expect(subscriptionIdOf(place)).toBe(`${listPath}/orders`)
})
