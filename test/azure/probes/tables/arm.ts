/** Paths, answers and states of Resource Manager. */
import { isRecord } from '../../../../src/support/text/is-record.ts'
import { absent, between, guid, oneOf, present, text } from '../expectation.ts'
import { type Probe, probe } from '../probe.ts'
import { cloudSchema, forType, propertiesOf, refusedSubscription, somewhere, stateOf } from './asking.ts'

const statusUrl = text(/\/providers\/Microsoft\.EventGrid(\/locations\/[^/]+)?\/operationsStatus\/[\dA-F-]{36}\?/i)

export const armProbes: readonly Probe[] = [
  probe({
    fact: 'path-leading-slashes',
    asks: 'a path that begins with two slashes',
    ask: async ({ arm, made }) => (await arm.send('GET', `/${made.cloud.id}`)).status,
    expected: 200,
  }),
  probe({
    fact: 'path-doubled-slashes',
    asks: 'two slashes within a path',
    async ask({ arm, made }) {
      return (await arm.send('GET', made.cloud.id.replace('/resourceGroups/', '//resourceGroups/'))).status
    },
    expected: between(400, 404),
  }),
  probe({
    fact: 'path-system-topic-refused',
    asks: 'an event subscription below an unknown system topic',
    async ask({ arm, made, subscriptionAt, unique }) {
      const { status, body } = await arm.send('GET', subscriptionAt(`${made.names.eventGrid}/systemTopics/${unique()}`))
      return { status, body }
    },
    expected: {
      status: 400,
      body: { error: { code: 'InvalidRequest', message: text(/not supported using this API call/) } },
    },
  }),
  probe({
    fact: 'subscription-missing',
    asks: 'an event subscription that is not there',
    async ask({ arm, made, subscriptionAt }) {
      const { status, body } = await arm.send('GET', subscriptionAt(made.cloud.id))
      return { status, body }
    },
    expected: { status: 404, body: { error: { code: 'ResourceNotFound' } } },
  }),
  probe({
    fact: 'provider-state',
    asks: 'the registration of the provider',
    async ask({ arm, made }) {
      const { body } = await arm.send(
        'GET',
        `/subscriptions/${made.place.subscriptionId}/providers/Microsoft.EventGrid`,
      )
      return isRecord(body) ? body.registrationState : undefined
    },
    expected: 'Registered',
  }),
  probe({
    fact: 'metadata-endpoints',
    asks: 'the endpoints of the cloud, without a token',
    async ask({ send, target }) {
      const url = `${target.resourceManager}/metadata/endpoints?api-version=2022-09-01`
      return (await send({ asked: 'arm', method: 'GET', url })).status
    },
    expected: 200,
  }),
  probe({
    fact: 'topic-name-refused',
    asks: 'a topic with an underscore in its name',
    async ask({ arm, made, tagged }) {
      const { status, body } = await arm.send('PUT', `${made.names.eventGrid}/topics/egb_wrong`, { body: tagged() })
      return { status, body }
    },
    expected: { status: 400, body: { error: { code: 'InvalidRequest', message: text(/Invalid topic name/) } } },
  }),
  probe({
    fact: 'topic-names',
    asks: 'a topic whose name is reserved',
    async ask({ arm, made, tagged, unique }) {
      return (await arm.send('PUT', `${made.names.eventGrid}/topics/EventGrid-${unique()}`, { body: tagged() })).status
    },
    expected: 400,
  }),
  probe({
    fact: 'topic-location-fixed',
    asks: 'another location for a topic',
    async ask({ arm, made, tagged }) {
      const location = made.place.location === 'northeurope' ? 'westeurope' : 'northeurope'
      const { status, body } = await arm.send('PUT', made.cloud.id, { body: tagged({ location }) })
      return { status, body }
    },
    expected: { status: 409, body: { error: { code: 'InvalidResourceLocation' } } },
  }),
  probe({
    fact: 'topic-put-201',
    asks: 'the first answer to a new topic',
    async ask({ arm, ownResource, tagged }) {
      const { first } = await arm.write('PUT', ownResource('topics'), { body: tagged() })
      return { status: first.status, properties: propertiesOf(first.body) }
    },
    expected: { status: 201, properties: { endpoint: null, metricResourceId: absent, publicNetworkAccess: absent } },
  }),
  probe({
    fact: 'topic-put-over',
    asks: 'the first answer to a PUT over a topic',
    async ask({ arm, ownResource, tagged }) {
      const id = ownResource('topics')
      await arm.write('PUT', id, { body: tagged() })
      const { first } = await arm.write('PUT', id, { body: tagged() })
      return { status: first.status, properties: propertiesOf(first.body) }
    },
    expected: { status: 201, properties: { provisioningState: 'Updating', endpoint: null, inputSchema: absent } },
  }),
  probe({
    fact: 'operation-201',
    asks: 'the headers that begin an operation',
    async ask({ arm, ownResource, tagged }) {
      const { first } = await arm.write('PUT', ownResource('topics'), { body: tagged() })
      return { status: first.status, operation: first.headers['azure-asyncoperation'] }
    },
    expected: { status: 201, operation: statusUrl },
  }),
  probe({
    fact: 'domain-put-201',
    asks: 'the first answer to a new domain',
    async ask({ arm, ownResource, tagged }) {
      const { first } = await arm.write('PUT', ownResource('domains'), { body: tagged() })
      return { status: first.status, properties: propertiesOf(first.body) }
    },
    expected: { status: 201, properties: { provisioningState: 'Creating', endpoint: null } },
  }),
  probe({
    fact: 'domain-counter',
    asks: 'the counter of a domain that is made',
    async ask({ arm, ownResource, tagged }) {
      const { first } = await arm.write('PUT', ownResource('domains'), { body: tagged() })
      return first.headers
    },
    expected: {
      'x-ms-ratelimit-remaining-subscription-writes': present,
      'x-ms-ratelimit-remaining-subscription-resource-requests': absent,
    },
  }),
  probe({
    fact: 'domain-topic-owner',
    asks: 'an event subscription of a domain topic that its owner did not make',
    async ask({ arm, ownResource, tagged, subscriptionAt }) {
      const domain = ownResource('domains')
      const properties = { autoCreateTopicWithFirstSubscription: false }
      await arm.write('PUT', domain, { body: tagged({ properties }) })
      const body = { properties: { destination: somewhere, eventDeliverySchema: 'EventGridSchema' } }
      return (await arm.send('PUT', subscriptionAt(`${domain}/topics/none`), { body })).status
    },
    expected: 404,
  }),
  probe({
    fact: 'parent-missing',
    asks: 'a topic of a domain that is not there',
    async ask({ arm, made, unique }) {
      const { status, body } = await arm.send('GET', `${made.names.eventGrid}/domains/${unique()}/topics/any`)
      return { status, body }
    },
    expected: { status: 404, body: { error: { code: 'ParentResourceNotFound' } } },
  }),
  probe({
    fact: 'request-counters',
    asks: 'the counter of an event subscription that is written',
    async ask(world) {
      const { headers } = await refusedSubscription(world, { destination: somewhere, eventDeliverySchema: cloudSchema })
      return headers
    },
    // A new bucket of 200; in recordings of 2022 there were 899 left.
    expected: { 'x-ms-ratelimit-remaining-subscription-resource-requests': between(0, 200) },
  }),
  probe({
    fact: 'topic-types',
    asks: 'the topic types of Key Vault and App Configuration',
    async ask({ arm }) {
      const read = async (type: string) => {
        const { body } = await arm.send('GET', `/providers/Microsoft.EventGrid/topicTypes/${type}`)
        return propertiesOf(body)
      }
      return [await read('Microsoft.KeyVault.vaults'), await read('Microsoft.AppConfiguration.ConfigurationStores')]
    },
    expected: [
      { provider: 'Microsoft.KeyVault', resourceRegionType: 'RegionalResource', displayName: 'Azure Key Vault' },
      {
        provider: 'Microsoft.AppConfiguration',
        resourceRegionType: 'RegionalResource',
        displayName: 'Azure App Configuration',
      },
    ],
  }),
  ...[
    'Microsoft.KeyVault.vaults',
    'Microsoft.ContainerRegistry.Registries',
    'Microsoft.AppConfiguration.ConfigurationStores',
  ].map((type) =>
    probe({
      fact: 'event-types',
      asks: `whether the event types of ${type} are in its default set`,
      async ask({ arm }) {
        const { body } = await arm.send('GET', `/providers/Microsoft.EventGrid/topicTypes/${type}/eventTypes`)
        const value: readonly unknown[] = isRecord(body) && Array.isArray(body.value) ? body.value : []
        return { some: value.length > 0, all: value.every((one) => propertiesOf(one).isInDefaultSet === true) }
      },
      expected: { some: true, all: true },
    }),
  ),
  probe({
    fact: 'system-topic-source-fits',
    asks: 'a system topic of Storage whose source is a custom topic',
    async ask({ arm, made, ownResource, tagged }) {
      const properties = { source: made.cloud.id, topicType: 'Microsoft.Storage.StorageAccounts' }
      const { status, body } = await arm.send('PUT', ownResource('systemTopics'), { body: tagged({ properties }) })
      return { status, body }
    },
    expected: {
      status: 400,
      body: { error: { message: text(/Source format can be found in topic type properties/) } },
    },
  }),
  probe({
    fact: 'system-topic-at-once',
    asks: 'a system topic without an identity, and with one',
    needs: ['storage'],
    async ask({ arm, made, ownResource, tagged }) {
      const properties = { source: made.names.storage, topicType: 'Microsoft.Storage.StorageAccounts' }
      const id = ownResource('systemTopics')
      const without = await arm.write('PUT', id, { body: tagged({ properties }) })
      await arm.write('DELETE', id)
      const body = tagged({ properties, identity: { type: 'SystemAssigned' } })
      const withOne = await arm.write('PUT', id, { body })
      const shown = ({ first: { status, headers, body: answer } }: typeof without) => ({
        status,
        operation: headers['azure-asyncoperation'],
        state: propertiesOf(answer).provisioningState,
      })
      return { without: shown(without), with: shown(withOne) }
    },
    expected: {
      without: { status: 200, operation: absent, state: 'Succeeded' },
      with: { status: 201, operation: statusUrl },
    },
  }),
  probe({
    fact: 'destination-missing',
    asks: 'a queue in a storage account that is not there',
    async ask(world) {
      const { arm, made, subscriptionAt } = world
      // Names of storage accounts are shared by all of Azure.
      const resourceId = `${made.names.group}none/providers/Microsoft.Storage/storageAccounts/none${made.place.suffix}`
      const destination = { endpointType: 'StorageQueue', properties: { resourceId, queueName: 'none' } }
      const properties = { destination, eventDeliverySchema: cloudSchema }
      const { first, end, error } = await arm.write('PUT', subscriptionAt(made.cloud.id), { body: { properties } })
      return { status: first.status, end, error }
    },
    expected: {
      ...{ status: 201, end: 'Failed' },
      error: { code: 'Endpoint validation', message: text(/^Destination endpoint not found/) },
    },
  }),
  ...(
    [
      ['handshake-failure-of-operation', 'when the failure of a handshake shows', { status: 201, end: 'Failed' }],
      [
        'handshake-failure-unknown',
        'the response code where nobody answers',
        { error: { message: text(/response code Unknown/) } },
      ],
      [
        'handshake-failure-words',
        'the words of a failed handshake',
        {
          error: {
            code: 'Url validation',
            message: text(/^Webhook validation handshake failed for https:\/\/nobody\.invalid\/api\/events/),
          },
        },
      ],
      ['failed-stays', 'the state after a failed handshake', { state: 'Failed' }],
    ] as const
  ).map(([fact, asks, expected]) =>
    probe({
      ...{ fact, asks, expected },
      async ask(world) {
        const { arm, made, subscriptionAt } = world
        const id = subscriptionAt(made.cloud.id)
        const body = { properties: { destination: somewhere, eventDeliverySchema: cloudSchema } }
        const { first, end, error } = await arm.write('PUT', id, { body })
        return { status: first.status, end, error, state: await stateOf(world, id) }
      },
    }),
  ),
  probe({
    fact: 'handshake-failure-words-post',
    asks: 'the words of a failed handshake of the Event Grid schema',
    async ask({ arm, made, subscriptionAt }) {
      const body = { properties: { destination: somewhere, eventDeliverySchema: 'EventGridSchema' } }
      return (await arm.write('PUT', subscriptionAt(made.grid.id), { body })).error
    },
    expected: { code: 'Url validation', message: text(/Http POST request failed with response code/) },
  }),
  probe({
    fact: 'subscription-put-201',
    asks: 'the first answer to a new event subscription',
    needs: ['storage'],
    async ask({ arm, made, subscriptionAt, openQueue }) {
      const { destination } = await openQueue()
      const body = { properties: { destination, eventDeliverySchema: cloudSchema } }
      const { first } = await arm.write('PUT', subscriptionAt(made.cloud.id), { body })
      return { status: first.status, properties: propertiesOf(first.body) }
    },
    expected: { status: 201, properties: { provisioningState: 'Creating', labels: null } },
  }),
  probe({
    fact: 'path-type',
    asks: 'the type of an event subscription',
    needs: ['storage'],
    async ask({ arm, made, subscriptionAt, openQueue }) {
      const { destination } = await openQueue()
      const body = { properties: { destination, eventDeliverySchema: cloudSchema } }
      const { first } = await arm.write('PUT', subscriptionAt(made.cloud.id), { body })
      return first.body
    },
    expected: { type: 'Microsoft.EventGrid/eventSubscriptions' },
  }),
  ...(
    [
      [
        'path-topic-case',
        'the source of an event subscription as it is shown',
        { topic: text(/\/providers\/microsoft\.eventgrid\/topics\//) },
      ],
      [
        'topic-default-types',
        'the list of event types where none was sent',
        { filter: { includedEventTypes: oneOf(null, undefined) } },
      ],
      [
        'subscription-defaults',
        'the defaults after the operation',
        {
          retryPolicy: { maxDeliveryAttempts: 30, eventTimeToLiveInMinutes: 1440 },
          filter: { subjectBeginsWith: '', subjectEndsWith: '' },
        },
      ],
    ] as const
  ).map(([fact, asks, expected]) =>
    probe({
      ...{ fact, asks, expected, needs: ['storage'] },
      async ask({ arm, made, subscriptionAt, openQueue }) {
        const { destination } = await openQueue()
        const id = subscriptionAt(made.cloud.id)
        await arm.write('PUT', id, { body: { properties: { destination, eventDeliverySchema: cloudSchema } } })
        return propertiesOf((await arm.send('GET', id)).body)
      },
    }),
  ),
  probe({
    fact: 'path-actions',
    asks: 'the delivery attributes where there are none',
    needs: ['storage'],
    async ask({ arm, made, subscriptionAt, openQueue }) {
      const { destination } = await openQueue()
      const id = subscriptionAt(made.cloud.id)
      await arm.write('PUT', id, { body: { properties: { destination, eventDeliverySchema: cloudSchema } } })
      const { status, body } = await arm.send('POST', `${id}/getDeliveryAttributes`)
      return { status, body }
    },
    expected: { status: 200, body: { value: null } },
  }),
  probe({
    fact: 'path-patch-top-level',
    asks: 'a PATCH with a field at top level',
    needs: ['storage'],
    async ask({ arm, made, subscriptionAt, openQueue, unique }) {
      const { destination } = await openQueue()
      const id = subscriptionAt(made.cloud.id)
      await arm.write('PUT', id, { body: { properties: forType(unique(), destination) } })
      const { first, end } = await arm.write('PATCH', id, { body: { labels: ['probe'] } })
      return { status: first.status, end, labels: propertiesOf((await arm.send('GET', id)).body).labels }
    },
    expected: { status: 201, end: 'Succeeded', labels: ['probe'] },
  }),
  probe({
    fact: 'operation-status',
    asks: 'the status of an operation that has ended',
    async ask({ arm, ownResource, tagged, send, target }) {
      const { first } = await arm.write('PUT', ownResource('topics'), { body: tagged() })
      const url = first.headers['azure-asyncoperation'] ?? ''
      const token = await target.credential.getToken(target.resourceManagerScope)
      const headers = { authorization: `Bearer ${token?.token}` }
      const { status, body } = await send({ asked: 'arm', method: 'GET', url, headers, polls: true })
      return { status, body }
    },
    expected: { status: 200, body: { id: text(/operationsStatus/i), name: guid, status: 'Succeeded' } },
  }),
  probe({
    fact: 'operation-status',
    asks: 'the result of a deletion while it runs, and after it',
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
  probe({
    fact: 'operation-delete',
    asks: 'the answer to a deletion',
    async ask({ arm, ownResource, tagged }) {
      const id = ownResource('topics')
      await arm.write('PUT', id, { body: tagged() })
      const { first } = await arm.write('DELETE', id)
      return { status: first.status, location: first.headers.location, again: (await arm.send('DELETE', id)).status }
    },
    expected: { status: 202, location: text(/operationResults/i), again: 204 },
  }),
  probe({
    fact: 'operation-active',
    asks: 'the statuses of an operation in their order',
    async ask({ arm, ownResource, tagged }) {
      const { statuses } = await arm.write('PUT', ownResource('topics'), { body: tagged() })
      const known = ['Active', 'InProgress', 'Succeeded']
      return { last: statuses.at(-1), others: statuses.filter((one) => !known.includes(one)) }
    },
    // Which of them are seen is a matter of time.
    expected: { last: 'Succeeded', others: [] },
  }),
  probe({
    fact: 'change-conflict',
    asks: 'a change during another change',
    needs: ['storage'],
    async ask({ arm, made, subscriptionAt, openQueue }) {
      const { destination } = await openQueue()
      const id = subscriptionAt(made.cloud.id)
      const put = (labels: readonly string[]) => ({
        body: { properties: { destination, eventDeliverySchema: cloudSchema, labels } },
      })
      const both = await Promise.all([arm.send('PUT', id, put(['a'])), arm.send('PUT', id, put(['b']))])
      const [taken, refused] = both.toSorted((one, other) => one.status - other.status)
      if (taken) await arm.finish(taken)
      return { taken: taken?.status, status: refused?.status, body: refused?.body }
    },
    expected: { taken: 201, status: 409, body: { error: { code: 'Conflict' } } },
  }),
]
