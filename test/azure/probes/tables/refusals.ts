/** Event subscriptions that Resource Manager refuses at once: nothing has to be reached for it. */
import { text } from '../expectation.ts'
import { type Need, type Probe, type ProbeWorld, probe } from '../probe.ts'
import { cloudSchema, gridSchema, refusedSubscription, somewhere, webhookAt } from './asking.ts'

interface More {
  readonly code?: string
  readonly message?: RegExp
  /** Of the event subscription. */
  readonly name?: string
  readonly needs?: readonly Need[]
}

const refused = (
  fact: string,
  asks: string,
  properties: object | ((world: ProbeWorld) => object),
  { code, message, name, needs = [] }: More = {},
) =>
  probe(fact, `${asks} is refused`, {
    needs,
    ask: (world) => refusedSubscription(world, typeof properties === 'function' ? properties(world) : properties, name),
    expected: {
      status: 400,
      ...((code || message) && {
        body: { error: { ...(code && { code }), ...(message && { message: text(message) }) } },
      }),
    },
  })

const to = (destination: object, more: object = {}) => ({ destination, eventDeliverySchema: cloudSchema, ...more })
const toSomewhere = (more: object) => to(somewhere, more)
const withFilters = (count: number, values: readonly string[] = ['a']) => {
  const advancedFilters = Array.from({ length: count }, (_, at) => ({
    ...{ operatorType: 'StringIn', key: `data.k${at}`, values },
  }))
  return toSomewhere({ filter: { advancedFilters } })
}
const withAttributes = (count: number, value = 'v', name = 'x-name') => {
  const deliveryAttributeMappings = Array.from({ length: count }, (_, at) => ({
    ...{ name: count === 1 ? name : `${name}-${at}`, type: 'Static' },
    properties: { value, isSecret: false },
  }))
  return to(webhookAt('https://nobody.invalid/', { deliveryAttributeMappings }))
}
const toQueue = (resourceId: string, more: object = {}) =>
  to({ endpointType: 'StorageQueue', properties: { resourceId, queueName: 'events', ...more } })

const invalidUrl = { code: 'InvalidRequest', message: /Supplied URL is invalid/ }

export const refusalProbes: readonly Probe[] = [
  refused(
    'url-null',
    'a webhook without a URL',
    to({ endpointType: 'WebHook', properties: { endpointUrl: null } }),
    invalidUrl,
  ),
  refused('url-http', 'a webhook of http', to(webhookAt('http://nobody.invalid/')), invalidUrl),
  refused(
    'subscription-expiry-past',
    'an expiry that is over',
    toSomewhere({ expirationTimeUtc: '2020-01-01T00:00:00Z' }),
    { message: /Invalid expiration time/ },
  ),
  refused('subscription-retry-policy', '31 attempts', toSomewhere({ retryPolicy: { maxDeliveryAttempts: 31 } })),
  refused('quota-day', '1,441 minutes', toSomewhere({ retryPolicy: { eventTimeToLiveInMinutes: 1441 } })),
  refused(
    'webhook-batch-limits',
    '5,001 events in a batch',
    to(webhookAt('https://nobody.invalid/', { maxEventsPerBatch: 5001 })),
  ),
  refused('filter-count', '26 filters', withFilters(26)),
  refused('filter-values', '26 values', withFilters(1, Array.from({ length: 26 }, String))),
  refused('filter-text-length', 'a value of 513 characters', withFilters(1, ['x'.repeat(513)])),
  refused('attribute-count', '11 attributes', withAttributes(11)),
  refused('attribute-bytes', 'a value of 4,097 bytes', withAttributes(1, 'x'.repeat(4097))),
  refused('attribute-aeg', 'an attribute aeg-x', withAttributes(1, 'v', 'aeg-x')),
  ...['transfer-encoding', 'content-length', 'host'].map((name) =>
    refused('attribute-names', `an attribute ${name}`, withAttributes(1, 'v', name)),
  ),
  ...(
    [
      ['an identity of an unknown type', 'Somebody'],
      ['a user-assigned identity without its id', 'UserAssigned'],
    ] as const
  ).map(([asks, type]) =>
    refused('identity-types', asks, {
      deliveryWithResourceIdentity: { identity: { type }, destination: somewhere },
    }),
  ),
  refused(
    'schema-combinations',
    'Event Grid events of a topic of CloudEvents',
    toSomewhere({ eventDeliverySchema: gridSchema }),
  ),
  refused(
    'namespace-topic-cloud-events',
    'a namespace topic that gets Event Grid events',
    ({ made }) => ({
      destination: { endpointType: 'NamespaceTopic', properties: { resourceId: made.namespace?.topicId } },
      eventDeliverySchema: gridSchema,
    }),
    { needs: ['namespace'] },
  ),
  ...[-2, 1.5, 'long'].map((seconds) =>
    refused('queue-message-ttl', `a message that is kept ${seconds} s`, ({ made }) =>
      toQueue(made.names.storage, { queueMessageTimeToLiveInSeconds: seconds }),
    ),
  ),
  refused('destination-ids', 'a storage queue in a resource of another kind', ({ made }) => toQueue(made.cloud.id)),
  refused('path-name', 'a name of two letters', toSomewhere({}), { name: 'ab' }),
  refused('path-put-properties', 'no destination', { eventDeliverySchema: cloudSchema }),
]
