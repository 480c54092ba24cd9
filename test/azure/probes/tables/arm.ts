/** Paths, answers and states of Resource Manager. */
import { isRecord } from '../../../../src/support/text/json-text.ts'
import { groupIdOf } from '../../plan/names.ts'
import { absent, between, guid, oneOf, type Pattern, present, text } from '../expectation.ts'
import { type Probe, probe, probesWith } from '../probe.ts'
import {
  cloudSchema,
  forType,
  gridSchema,
  propertiesOf,
  putQueue,
  putSubscription,
  refusedSubscription,
  somewhere,
  stateOf,
} from './asking.ts'

const statusUrl = text(/\/providers\/Microsoft\.EventGrid(\/locations\/[^/]+)?\/operationsStatus\/[\dA-F-]{36}\?/i)

const toNobody = { destination: somewhere, eventDeliverySchema: cloudSchema }

/** The first answer to a new topic or domain. */
const ofNew = (type: 'topics' | 'domains', fact: string, asks: string, expected: Pattern) =>
  probe(fact, asks, {
    ask: async ({ arm, ownResource, tagged }) => (await arm.write('PUT', ownResource(type), { body: tagged() })).first,
    expected,
  })

/** How an event subscription ends whose webhook nobody answers. */
const unreached = (fact: string, asks: string, expected: Pattern) =>
  probe(fact, asks, {
    async ask(world) {
      const { id, first, end, error } = await putSubscription(world, toNobody)
      return { status: first.status, end, error, state: await stateOf(world, id) }
    },
    expected,
  })

const withStorage = probesWith('storage')

/** The properties of an event subscription after its operation. */
const shown = (fact: string, asks: string, expected: Pattern) =>
  withStorage(fact, asks, {
    async ask(world) {
      const { id } = await putQueue(world)
      return propertiesOf((await world.arm.send('GET', id)).body)
    },
    expected,
  })

export const armProbes: readonly Probe[] = [
  probe('path-leading-slashes', 'a path that begins with two slashes', {
    ask: async ({ arm, made }) => (await arm.send('GET', `/${made.cloud.id}`)).status,
    expected: 200,
  }),
  probe('path-doubled-slashes', 'two slashes within a path', {
    ask: async ({ arm, made }) =>
      (await arm.send('GET', made.cloud.id.replace('/resourceGroups/', '//resourceGroups/'))).status,
    expected: between(400, 404),
  }),
  probe('path-system-topic-refused', 'an event subscription below an unknown system topic', {
    ask: ({ arm, made, subscriptionAt, unique }) =>
      arm.send('GET', subscriptionAt(`${made.names.eventGrid}/systemTopics/${unique()}`)),
    expected: {
      status: 400,
      body: { error: { code: 'InvalidRequest', message: text(/not supported using this API call/) } },
    },
  }),
  probe('path-namespace-topic-refused', 'an event subscription at the path of an extension, below a namespace topic', {
    ask: ({ arm, made, subscriptionAt, unique }) =>
      arm.send('GET', subscriptionAt(`${made.names.eventGrid}/namespaces/${unique()}/topics/${unique()}`)),
    expected: { status: 400, body: { error: { code: 'InvalidRequest' } } },
  }),
  probe('subscription-missing', 'an event subscription that is not there', {
    ask: ({ arm, made, subscriptionAt }) => arm.send('GET', subscriptionAt(made.cloud.id)),
    expected: { status: 404, body: { error: { code: 'ResourceNotFound' } } },
  }),
  probe('provider-state', 'the registration of the provider', {
    ask: async ({ arm, made: { place } }) =>
      (await arm.send('GET', `/subscriptions/${place.subscriptionId}/providers/Microsoft.EventGrid`)).body,
    expected: { registrationState: 'Registered' },
  }),
  probe('metadata-endpoints', 'the endpoints of the cloud, without a token', {
    async ask({ send, target }) {
      const url = `${target.resourceManager}/metadata/endpoints?api-version=2022-09-01`
      return (await send({ asked: 'arm', method: 'GET', url })).status
    },
    expected: 200,
  }),
  probe('topic-name-characters', 'a topic with an underscore in its name', {
    ask: ({ arm, ownResource, tagged }) => arm.send('PUT', ownResource('topics', 'egb_wrong_'), { body: tagged() }),
    expected: { status: 400, body: { error: { code: 'InvalidRequest', message: text(/Invalid topic name/) } } },
  }),
  probe('topic-names', 'a topic whose name is reserved', {
    ask: async ({ arm, ownResource, tagged }) =>
      (await arm.send('PUT', ownResource('topics', 'EventGrid-'), { body: tagged() })).status,
    expected: 400,
  }),
  probe('topic-location-fixed', 'another location for a topic', {
    ask({ arm, made, tagged }) {
      const location = made.place.location === 'northeurope' ? 'westeurope' : 'northeurope'
      return arm.send('PUT', made.cloud.id, { body: tagged({ location }) })
    },
    expected: { status: 409, body: { error: { code: 'InvalidResourceLocation' } } },
  }),
  ofNew('topics', 'topic-put-201', 'the first answer to a new topic', {
    status: 201,
    body: { properties: { endpoint: null, metricResourceId: absent, publicNetworkAccess: absent } },
  }),
  probe('topic-put-over', 'the first answer to a PUT over a topic', {
    async ask({ arm, ownResource, tagged }) {
      const id = ownResource('topics')
      await arm.write('PUT', id, { body: tagged() })
      return (await arm.write('PUT', id, { body: tagged() })).first
    },
    expected: {
      status: 201,
      body: { properties: { provisioningState: 'Updating', endpoint: null, inputSchema: absent } },
    },
  }),
  ofNew('topics', 'operation-201', 'the headers that begin an operation', {
    status: 201,
    headers: { 'azure-asyncoperation': statusUrl },
  }),
  ofNew('domains', 'domain-put-201', 'the first answer to a new domain', {
    status: 201,
    body: { properties: { provisioningState: 'Creating', endpoint: null } },
  }),
  ofNew('domains', 'domain-counter', 'the counter of a domain that is made', {
    headers: {
      'x-ms-ratelimit-remaining-subscription-writes': present,
      'x-ms-ratelimit-remaining-subscription-resource-requests': absent,
    },
  }),
  probe('domain-topic-owner', 'an event subscription of a domain topic that its owner did not make', {
    async ask({ arm, ownResource, tagged, subscriptionAt }) {
      const domain = ownResource('domains')
      const properties = { autoCreateTopicWithFirstSubscription: false }
      await arm.write('PUT', domain, { body: tagged({ properties }) })
      const body = { properties: { destination: somewhere, eventDeliverySchema: gridSchema } }
      return (await arm.send('PUT', subscriptionAt(`${domain}/topics/none`), { body })).status
    },
    expected: 404,
  }),
  probe('parent-missing', 'a topic of a domain that is not there', {
    ask: ({ arm, made, unique }) => arm.send('GET', `${made.names.eventGrid}/domains/${unique()}/topics/any`),
    expected: { status: 404, body: { error: { code: 'ParentResourceNotFound' } } },
  }),
  probe('request-counters', 'the counter of an event subscription that is written', {
    ask: async (world) => (await refusedSubscription(world, toNobody)).headers,
    // A new bucket of 200; in recordings of 2022 there were 899 left.
    expected: { 'x-ms-ratelimit-remaining-subscription-resource-requests': between(0, 200) },
  }),
  probe('list-filter', 'a list of topics, filtered by location', {
    ask: ({ arm, made }) => arm.send('GET', `${made.names.eventGrid}/topics?$filter=location eq 'westus'`),
    expected: { status: 400, body: { error: { code: 'InvalidRequest' } } },
  }),
  probe('topic-types', 'the topic types of Key Vault and App Configuration', {
    async ask({ arm }) {
      const read = async (type: string) =>
        propertiesOf((await arm.send('GET', `/providers/Microsoft.EventGrid/topicTypes/${type}`)).body)
      return [await read('Microsoft.KeyVault.vaults'), await read('Microsoft.AppConfiguration.ConfigurationStores')]
    },
    expected: [
      ['Microsoft.KeyVault', 'Microsoft Key Vault'],
      ['Microsoft.AppConfiguration', 'Microsoft Azure App Configuration'],
    ].map(([provider, displayName]) => ({ provider, resourceRegionType: 'RegionalResource', displayName })),
  }),
  ...[
    'Microsoft.KeyVault.vaults',
    'Microsoft.ContainerRegistry.Registries',
    'Microsoft.AppConfiguration.ConfigurationStores',
  ].map((type) =>
    probe('event-types', `whether the event types of ${type} are in its default set`, {
      async ask({ arm }) {
        const { body } = await arm.send('GET', `/providers/Microsoft.EventGrid/topicTypes/${type}/eventTypes`)
        const value: readonly unknown[] = isRecord(body) && Array.isArray(body.value) ? body.value : []
        return { some: value.length > 0, all: value.every((one) => propertiesOf(one).isInDefaultSet === true) }
      },
      expected: { some: true, all: true },
    }),
  ),
  probe('system-topic-source-fits', 'a system topic of Storage whose source is a custom topic', {
    ask({ arm, made, ownResource, tagged }) {
      const properties = { source: made.cloud.id, topicType: 'Microsoft.Storage.StorageAccounts' }
      return arm.send('PUT', ownResource('systemTopics'), { body: tagged({ properties }) })
    },
    expected: {
      status: 400,
      body: { error: { message: text(/Source format can be found in topic type properties/) } },
    },
  }),
  withStorage('system-topic-at-once', 'a system topic without an identity, and with one', {
    async ask({ arm, made, ownResource, tagged }) {
      const properties = { source: made.names.storage, topicType: 'Microsoft.Storage.StorageAccounts' }
      const id = ownResource('systemTopics')
      const without = await arm.write('PUT', id, { body: tagged({ properties }) })
      await arm.write('DELETE', id)
      const body = tagged({ properties, identity: { type: 'SystemAssigned' } })
      const withOne = await arm.write('PUT', id, { body })
      const seen = ({ first: { status, headers, body: answer } }: typeof without) => ({
        ...{ status, operation: headers['azure-asyncoperation'], state: propertiesOf(answer).provisioningState },
      })
      return { without: seen(without), with: seen(withOne) }
    },
    expected: {
      without: { status: 200, operation: absent, state: 'Succeeded' },
      with: { status: 201, operation: statusUrl },
    },
  }),
  probe('destination-missing', 'a queue in a storage account that is not there', {
    async ask(world) {
      const { place } = world.made
      // Names of storage accounts are shared by all of Azure.
      const group = groupIdOf(place.subscriptionId, `none-${place.suffix}`)
      const resourceId = `${group}/providers/Microsoft.Storage/storageAccounts/none${place.suffix}`
      const destination = { endpointType: 'StorageQueue', properties: { resourceId, queueName: 'none' } }
      return putSubscription(world, { destination, eventDeliverySchema: cloudSchema })
    },
    expected: {
      ...{ first: { status: 201 }, end: 'Failed' },
      error: { code: 'Endpoint validation', message: text(/^Destination endpoint not found/) },
    },
  }),
  unreached('handshake-failure-of-operation', 'when the failure of a handshake shows', { status: 201, end: 'Failed' }),
  unreached('handshake-failure-unknown', 'the response code where nobody answers', {
    error: { message: text(/response code Unknown/) },
  }),
  unreached('handshake-failure-words', 'the words of a failed handshake', {
    error: {
      code: 'Url validation',
      message: text(/^Webhook validation handshake failed for https:\/\/nobody\.invalid\/api\/events/),
    },
  }),
  unreached('failed-stays', 'the state after a failed handshake', { state: 'Failed' }),
  probe('handshake-failure-words-post', 'the words of a failed handshake of the Event Grid schema', {
    async ask(world) {
      const properties = { destination: somewhere, eventDeliverySchema: gridSchema }
      return (await putSubscription(world, properties, { source: world.made.grid.id })).error
    },
    expected: { code: 'Url validation', message: text(/Http POST request failed with response code/) },
  }),
  withStorage('subscription-put-201', 'the first answer to a new event subscription', {
    ask: async (world) => (await putQueue(world)).first,
    expected: { status: 201, body: { properties: { provisioningState: 'Creating', labels: null } } },
  }),
  withStorage('path-type', 'the type of an event subscription', {
    ask: async (world) => (await putQueue(world)).first.body,
    expected: { type: 'Microsoft.EventGrid/eventSubscriptions' },
  }),
  shown('path-topic-case', 'the source of an event subscription as it is shown', {
    topic: text(/\/providers\/microsoft\.eventgrid\/topics\//),
  }),
  shown('topic-default-types', 'the list of event types where none was sent', {
    filter: { includedEventTypes: oneOf(null, undefined) },
  }),
  shown('subscription-defaults', 'the defaults after the operation', {
    retryPolicy: { maxDeliveryAttempts: 30, eventTimeToLiveInMinutes: 1440 },
    filter: { subjectBeginsWith: '', subjectEndsWith: '' },
  }),
  withStorage('path-actions', 'the delivery attributes where there are none', {
    async ask(world) {
      const { id } = await putQueue(world)
      return world.arm.send('POST', `${id}/getDeliveryAttributes`)
    },
    expected: { status: 200, body: { value: null } },
  }),
  withStorage('path-patch-top-level', 'a PATCH with a field at top level', {
    async ask(world) {
      const { arm, openQueue, unique } = world
      const { destination } = await openQueue()
      const { id } = await putSubscription(world, forType(unique(), destination))
      const { first, end } = await arm.write('PATCH', id, { body: { labels: ['probe'] } })
      return { status: first.status, end, labels: propertiesOf((await arm.send('GET', id)).body).labels }
    },
    expected: { status: 201, end: 'Succeeded', labels: ['probe'] },
  }),
  probe('operation-status', 'the status of an operation that has ended', {
    async ask({ arm, ownResource, tagged, send, target }) {
      const { first } = await arm.write('PUT', ownResource('topics'), { body: tagged() })
      const url = first.headers['azure-asyncoperation'] ?? ''
      const token = await target.credential.getToken(target.resourceManagerScope)
      const headers = { authorization: `Bearer ${token?.token}` }
      return send({ asked: 'arm', method: 'GET', url, headers, polls: true })
    },
    expected: { status: 200, body: { id: text(/operationsStatus/i), name: guid, status: 'Succeeded' } },
  }),
  probe('operation-status', 'the result of a deletion while it runs, and after it', {
    async ask({ arm, ownResource, tagged }) {
      const id = ownResource('topics')
      await arm.write('PUT', id, { body: tagged() })
      const first = await arm.send('DELETE', id)
      const { 'azure-asyncoperation': _status, ...headers } = first.headers
      const { end, statuses } = await arm.finish({ ...first, headers })
      return { status: first.status, end, others: statuses.filter((one) => one !== '202') }
    },
    expected: { status: 202, end: 'Succeeded', others: [] },
  }),
  probe('operation-delete', 'the answer to a deletion', {
    async ask({ arm, ownResource, tagged }) {
      const id = ownResource('topics')
      await arm.write('PUT', id, { body: tagged() })
      const { first } = await arm.write('DELETE', id)
      return { status: first.status, location: first.headers.location, again: (await arm.send('DELETE', id)).status }
    },
    expected: { status: 202, location: text(/operationResults/i), again: 204 },
  }),
  probe('operation-active', 'the statuses of an operation in their order', {
    async ask({ arm, ownResource, tagged }) {
      const { statuses } = await arm.write('PUT', ownResource('topics'), { body: tagged() })
      const known = ['Active', 'InProgress', 'Succeeded']
      return { last: statuses.at(-1), others: statuses.filter((one) => !known.includes(one)) }
    },
    // Which of them are seen is a matter of time.
    expected: { last: 'Succeeded', others: [] },
  }),
  withStorage('change-conflict', 'a change during another change', {
    async ask({ arm, made, subscriptionAt, openQueue }) {
      const { destination } = await openQueue()
      const id = subscriptionAt(made.cloud.id)
      const put = (label: string) =>
        arm.send('PUT', id, {
          body: { properties: { destination, eventDeliverySchema: cloudSchema, labels: [label] } },
        })
      const both = await Promise.all([put('a'), put('b')])
      const [taken, refused] = both.toSorted((one, other) => one.status - other.status)
      if (taken) await arm.finish(taken)
      return { taken: taken?.status, status: refused?.status, body: refused?.body }
    },
    expected: { taken: 201, status: 409, body: { error: { code: 'Conflict' } } },
  }),
]
