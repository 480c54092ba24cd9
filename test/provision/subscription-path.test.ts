import { expect, it } from 'vitest'
import { parseEventSource } from '../../src/metadata/fields/scope.ts'
import { chooseSubscriptionPath } from '../../src/provision/arm/subscription-path.ts'

const group = '/subscriptions/s1/resourceGroups/rg1'
const own = `${group}/providers/Microsoft.EventGrid`

it.each([
  { name: 'a subscription', scope: '/subscriptions/s1/', path: 'subscriptions/s1' },
  { name: 'a resource group', scope: group, path: 'subscriptions/s1/resourceGroups/rg1' },
  { name: 'a custom topic', scope: `${own}/topics/t1` },
  { name: 'a domain', scope: `${own}/domains/d1` },
  { name: "a domain's topic", scope: `${own}/domains/d1/topics/t1` },
  { name: "another provider's resource of that type", scope: `${group}/providers/Contoso.Events/systemTopics/st1` },
])('$name has the extension path', ({ scope, path = scope.slice(1) }) => {
  expect(chooseSubscriptionPath(parseEventSource(scope))).toEqual({ kind: 'extension', scope: path })
})

it.each([
  { scope: `${own}/systemTopics/st1`, kind: 'systemTopic', topic: 'st1' },
  { scope: `${group}/providers/microsoft.eventgrid/SYSTEMTOPICS/st1`, kind: 'systemTopic', topic: 'st1' },
  { scope: `${own}/partnerTopics/pt1`, kind: 'partnerTopic', topic: 'pt1' },
])('$scope has the nested path', ({ scope, kind, topic }) => {
  expect(chooseSubscriptionPath(parseEventSource(scope))).toEqual({ kind, resourceGroup: 'rg1', topic })
})
