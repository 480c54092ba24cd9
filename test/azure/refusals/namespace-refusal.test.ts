import { expect, it } from 'vitest'
import { explainNamespaceRefusal } from '../../../src/azure/refusals/namespace-refusal.ts'
import { parseMetadata } from '../../../src/metadata/typed/parse-metadata.ts'

const namespaceId = '/subscriptions/s1/resourceGroups/rg(1)/providers/Microsoft.EventGrid/namespaces/shop'
const common = {
  deliveryMode: 'pull',
  ...{ namespaceTopic: `${namespaceId}/topics/orders`, eventSubscriptionName: 'app' },
}
const byKey = { namespaceKey: 'a2V5', namespaceEndpoint: 'https://shop.westeurope-1.eventgrid.azure.net' }
const byIdentity = { azureCredential: 'managedIdentity', clientId: '22222222-2222-4222-8222-222222222222' }

const show =
  "az eventgrid namespace topic show --name orders --namespace-name shop --resource-group 'rg(1)' --subscription s1"
const create = 'create the event subscription app of '

it.each<{
  name: string
  failure: { status?: number; reason?: string }
  fields?: object
  says: string[]
  not?: string[]
}>([
  {
    name: 'a wrong key',
    failure: { status: 401 },
    fields: byKey,
    says: [
      'check namespaceKey',
      "az eventgrid namespace list-key --name shop --resource-group 'rg(1)' --subscription s1",
    ],
  },
  {
    name: 'a token without a role',
    failure: { status: 401 },
    says: [`--assignee ${byIdentity.clientId} --role "EventGrid Data Receiver" --scope '${namespaceId}'`],
    not: ['namespaceKey'],
  },
  { name: 'what no key may do', failure: { status: 403 }, fields: byKey, says: ['EventGrid Data Receiver'] },
  {
    name: 'a missing event subscription',
    failure: { status: 404, reason: 'The Event Subscription was not found in the topic' },
    says: [`${create}${namespaceId}/topics/orders with delivery mode Queue`],
    not: ['az ', 'or give tenantId'],
  },
  {
    name: 'a missing event subscription, where no credential could create it',
    failure: { status: 404, reason: 'The Event Subscription was not found' },
    ...{ fields: byKey, says: [create, 'or give tenantId, clientId and clientSecret'], not: ['az '] },
  },
  { name: 'a missing topic', failure: { status: 410, reason: 'no such Topic' }, says: [show], not: [create] },
  {
    name: 'something that is missing',
    failure: { status: 404, reason: 'Not found' },
    says: [create, `If it exists, `, show],
  },
])('says what to do about $name', ({ failure, fields = byIdentity, says, not = [] }) => {
  const { pull } = parseMetadata({ ...common, ...fields })
  const fix = pull && explainNamespaceRefusal({ reason: '', ...failure }, pull)
  for (const one of says) expect(fix).toContain(one)
  for (const one of not) expect(fix).not.toContain(one)
})

it.each([undefined, 400, 429, 500])('has nothing to say of %s', (status) => {
  const { pull } = parseMetadata({ ...common, ...byIdentity })
  if (!pull) throw new Error('no pull side')
  const failure = { reason: 'the topic', ...(status !== undefined && { status }) }
  expect(explainNamespaceRefusal(failure, pull)).toBeUndefined()
})
