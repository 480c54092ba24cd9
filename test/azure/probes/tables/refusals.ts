/** Event subscriptions that Resource Manager refuses at once: nothing has to be reached for it. */
import { text } from '../expectation.ts'
import type { Need, Probe, ProbeWorld } from '../probe.ts'
import { cloudSchema, gridSchema, refusedSubscription, somewhere, webhookAt } from './asking.ts'

interface Refusal {
  readonly fact: string
  readonly asks: string
  readonly properties: object | ((world: ProbeWorld) => object)
  readonly code?: string
  readonly message?: RegExp
  readonly name?: string
  readonly needs?: readonly Need[]
}

const filters = (count: number, values: readonly string[] = ['a']) =>
  Array.from({ length: count }, (_, at) => ({ operatorType: 'StringIn', key: `data.k${at}`, values }))
const attributes = (count: number, value = 'v', name = 'x-name') =>
  Array.from({ length: count }, (_, at) => ({
    ...{ name: count === 1 ? name : `${name}-${at}`, type: 'Static' },
    properties: { value, isSecret: false },
  }))
const withAttributes = (mappings: object) => ({
  destination: webhookAt('https://nobody.invalid/', { deliveryAttributeMappings: mappings }),
  eventDeliverySchema: cloudSchema,
})
const toSomewhere = (more: object) => ({ destination: somewhere, eventDeliverySchema: cloudSchema, ...more })

const refusals: readonly Refusal[] = [
  {
    ...{
      fact: 'url-null',
      asks: 'a webhook without a URL',
      code: 'InvalidRequest',
      message: /Supplied URL is invalid/,
    },
    properties: {
      destination: { endpointType: 'WebHook', properties: { endpointUrl: null } },
      eventDeliverySchema: cloudSchema,
    },
  },
  {
    ...{ fact: 'url-http', asks: 'a webhook of http', code: 'InvalidRequest', message: /Supplied URL is invalid/ },
    properties: { destination: webhookAt('http://nobody.invalid/'), eventDeliverySchema: cloudSchema },
  },
  {
    ...{ fact: 'subscription-expiry-past', asks: 'an expiry that is over', message: /Invalid expiration time/ },
    properties: toSomewhere({ expirationTimeUtc: '2020-01-01T00:00:00Z' }),
  },
  {
    fact: 'subscription-retry-policy',
    asks: '31 attempts',
    properties: toSomewhere({ retryPolicy: { maxDeliveryAttempts: 31 } }),
  },
  {
    fact: 'quota-day',
    asks: '1,441 minutes',
    properties: toSomewhere({ retryPolicy: { eventTimeToLiveInMinutes: 1441 } }),
  },
  {
    ...{ fact: 'webhook-batch-limits', asks: '5,001 events in a batch' },
    properties: {
      destination: webhookAt('https://nobody.invalid/', { maxEventsPerBatch: 5001 }),
      eventDeliverySchema: cloudSchema,
    },
  },
  { fact: 'filter-count', asks: '26 filters', properties: toSomewhere({ filter: { advancedFilters: filters(26) } }) },
  {
    ...{ fact: 'filter-values', asks: '26 values' },
    properties: toSomewhere({ filter: { advancedFilters: filters(1, Array.from({ length: 26 }, String)) } }),
  },
  {
    ...{ fact: 'filter-text-length', asks: 'a value of 513 characters' },
    properties: toSomewhere({ filter: { advancedFilters: filters(1, ['x'.repeat(513)]) } }),
  },
  { fact: 'attribute-count', asks: '11 attributes', properties: withAttributes(attributes(11)) },
  {
    fact: 'attribute-bytes',
    asks: 'a value of 4,097 bytes',
    properties: withAttributes(attributes(1, 'x'.repeat(4097))),
  },
  { fact: 'attribute-aeg', asks: 'an attribute aeg-x', properties: withAttributes(attributes(1, 'v', 'aeg-x')) },
  ...['transfer-encoding', 'content-length', 'host'].map((name) => ({
    ...{ fact: 'attribute-names', asks: `an attribute ${name}` },
    properties: withAttributes(attributes(1, 'v', name)),
  })),
  {
    ...{ fact: 'identity-types', asks: 'an identity of an unknown type' },
    properties: { deliveryWithResourceIdentity: { identity: { type: 'Somebody' }, destination: somewhere } },
  },
  {
    ...{ fact: 'identity-types', asks: 'a user-assigned identity without its id' },
    properties: { deliveryWithResourceIdentity: { identity: { type: 'UserAssigned' }, destination: somewhere } },
  },
  {
    ...{ fact: 'schema-combinations', asks: 'Event Grid events of a topic of CloudEvents' },
    properties: { destination: somewhere, eventDeliverySchema: gridSchema },
  },
  {
    ...{
      fact: 'namespace-topic-cloud-events',
      asks: 'a namespace topic that gets Event Grid events',
      needs: ['namespace'],
    },
    properties: ({ made }) => ({
      destination: { endpointType: 'NamespaceTopic', properties: { resourceId: made.namespace?.topicId } },
      eventDeliverySchema: gridSchema,
    }),
  },
  ...[-2, 1.5, 'long'].map((seconds) => ({
    ...{ fact: 'queue-message-ttl', asks: `a message that is kept ${seconds} s` },
    properties: ({ made: { names } }: ProbeWorld) => ({
      destination: {
        endpointType: 'StorageQueue',
        properties: { resourceId: names.storage, queueName: 'events', queueMessageTimeToLiveInSeconds: seconds },
      },
      eventDeliverySchema: cloudSchema,
    }),
  })),
  {
    ...{ fact: 'destination-ids', asks: 'a storage queue in a resource of another kind' },
    properties: ({ made }) => ({
      destination: { endpointType: 'StorageQueue', properties: { resourceId: made.cloud.id, queueName: 'events' } },
      eventDeliverySchema: cloudSchema,
    }),
  },
  { fact: 'path-name', asks: 'a name of two letters', name: 'ab', properties: toSomewhere({}) },
  { fact: 'path-put-properties', asks: 'no destination', properties: { eventDeliverySchema: cloudSchema } },
]

export const refusalProbes: readonly Probe[] = refusals.map(
  ({ fact, asks, properties, code, message, name, needs = [] }) => ({
    ...{ fact, asks: `${asks} is refused`, needs },
    async ask(world) {
      const given = typeof properties === 'function' ? properties(world) : properties
      const { status, body } = await refusedSubscription(world, given, name === undefined ? {} : { name })
      return { status, body }
    },
    expected: {
      status: 400,
      ...((code || message) && {
        body: { error: { ...(code && { code }), ...(message && { message: text(message) }) } },
      }),
    },
  }),
)
