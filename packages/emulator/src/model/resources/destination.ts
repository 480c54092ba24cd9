// Where an event subscription delivers, and where it puts dead letters: the settings of each kind of destination, and their limits.
import { z } from 'zod'
import { byMember, enumeration, type ReadonlyDeep } from '../schemas.ts'

const maxDeliveryAttributes = 10
const maxAttributeBytes = 4096

const text = z.string()

/** The id of a resource, by its provider and types; a name is any text without a slash. */
function resourceIdOf(type: string, what: string) {
  const [provider = '', ...types] = type.split('/')
  const path = [provider.replaceAll('.', '\\.'), ...types.map((one) => `${one}/[^/?#\\s]+`)].join('/')
  const shape = new RegExp(`^/subscriptions/[^/?#\\s]+/resourceGroups/[^/?#\\s]+/providers/${path}$`, 'i')
  return text.regex(
    shape,
    `must be the id of ${what}: /subscriptions/.../providers/${type.replace(/\/(\w+)/g, '/$1/{name}')}`,
  )
}

const storageAccountId = text.regex(
  /^\/subscriptions(\/[^/?#\s]+)+\/storageAccounts\/[a-z0-9]{3,24}$/i,
  'must be the id of a storage account',
)

const deliveryAttribute = byMember(
  'type',
  ['Static', 'Dynamic'],
  z.discriminatedUnion('type', [
    z.object({
      name: text.min(1),
      type: z.literal('Static'),
      properties: z.object({
        value: text.refine((value) => Buffer.byteLength(value) <= maxAttributeBytes, {
          message: `must be no longer than ${maxAttributeBytes} bytes`,
        }),
        isSecret: z.exactOptional(z.boolean()),
      }),
    }),
    z.object({
      name: text.min(1),
      type: z.literal('Dynamic'),
      properties: z.object({ sourceField: text.min(1) }),
    }),
  ]),
)

const attributes = {
  deliveryAttributeMappings: z.exactOptional(
    z.array(deliveryAttribute).max(maxDeliveryAttributes, `must have no more than ${maxDeliveryAttributes} items`),
  ),
}

const batch = {
  maxEventsPerBatch: z.exactOptional(z.int().min(1).max(5000)),
  preferredBatchSizeInKilobytes: z.exactOptional(z.int().min(1).max(1024)),
}

/** A webhook destination as requested: with secrets, without defaults. */
const webHook = z.object({
  // The whole URL, query and all. A missing one gets the same answer as an invalid one, so it is checked
  // afterwards.
  endpointUrl: text.catch(''),
  ...batch,
  azureActiveDirectoryTenantId: z.exactOptional(text),
  azureActiveDirectoryApplicationIdOrUri: z.exactOptional(text),
  ...attributes,
  minimumTlsVersionAllowed: z.exactOptional(z.enum(['1.0', '1.1', '1.2'])),
})

/** With the names that Azure Storage allows: an address is made of them. */
const storageQueue = z.looseObject({
  resourceId: storageAccountId,
  queueName: text.max(63).regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, 'must be the name of a queue'),
  queueMessageTimeToLiveInSeconds: z.exactOptional(z.union([z.literal(-1), z.int().min(1)])),
})

/** An event hub, a Service Bus queue and so on: what is known by its id alone. */
const resource = (type: string, what: string) => z.looseObject({ resourceId: resourceIdOf(type, what), ...attributes })

const functionType = 'Microsoft.Web/sites/functions'
const azureFunction = z.looseObject({
  resourceId: z.union(
    [resourceIdOf(functionType, 'a function'), resourceIdOf('Microsoft.Web/sites/slots/functions', 'a function')],
    `must be the id of a function: /subscriptions/.../providers/${functionType}`,
  ),
  ...batch,
  ...attributes,
})

const monitorAlert = z.looseObject({
  severity: enumeration('Sev0', 'Sev1', 'Sev2', 'Sev3', 'Sev4'),
  description: z.exactOptional(text),
  actionGroups: z.exactOptional(z.array(resourceIdOf('Microsoft.Insights/actionGroups', 'an action group'))),
})

const endpointTypes = [
  ...['WebHook', 'StorageQueue', 'EventHub', 'HybridConnection', 'ServiceBusQueue', 'ServiceBusTopic'],
  ...['AzureFunction', 'MonitorAlert', 'NamespaceTopic'],
]

/** Where events are delivered to: to webhooks, storage queues and namespace topics; others are kept and shown. */
export const destination = byMember(
  'endpointType',
  endpointTypes,
  z.discriminatedUnion('endpointType', [
    z.object({ endpointType: z.literal('WebHook'), properties: webHook.default({ endpointUrl: '' }) }),
    z.object({ endpointType: z.literal('StorageQueue'), properties: storageQueue }),
    z.object({
      endpointType: z.literal('EventHub'),
      properties: resource('Microsoft.EventHub/namespaces/eventhubs', 'an event hub'),
    }),
    z.object({
      endpointType: z.literal('HybridConnection'),
      properties: resource('Microsoft.Relay/namespaces/hybridConnections', 'a hybrid connection'),
    }),
    z.object({
      endpointType: z.literal('ServiceBusQueue'),
      properties: resource('Microsoft.ServiceBus/namespaces/queues', 'a Service Bus queue'),
    }),
    z.object({
      endpointType: z.literal('ServiceBusTopic'),
      properties: resource('Microsoft.ServiceBus/namespaces/topics', 'a Service Bus topic'),
    }),
    z.object({ endpointType: z.literal('AzureFunction'), properties: azureFunction }),
    z.object({ endpointType: z.literal('MonitorAlert'), properties: monitorAlert }),
    z.object({
      endpointType: z.literal('NamespaceTopic'),
      properties: resource('Microsoft.EventGrid/namespaces/topics', 'a namespace topic'),
    }),
  ]),
)

/** The identity that delivers: that of the source, or one that is assigned to it. */
export const destinationIdentity = byMember(
  'type',
  ['SystemAssigned', 'UserAssigned'],
  z.discriminatedUnion('type', [
    z.looseObject({ type: z.literal('SystemAssigned') }),
    z.looseObject({
      type: z.literal('UserAssigned'),
      userAssignedIdentity: resourceIdOf(
        'Microsoft.ManagedIdentity/userAssignedIdentities',
        'a user-assigned identity',
      ),
    }),
  ]),
)

/** A blob container for events that could not be delivered. */
export const deadLetterDestination = z.object({
  endpointType: enumeration('StorageBlob'),
  properties: z.object({
    resourceId: storageAccountId,
    blobContainerName: text.regex(/^(?=.{3,63}$)[a-z0-9]+(-[a-z0-9]+)*$/, 'must be the name of a container'),
  }),
})

/** Where a subscription delivers to. */
export type Destination = ReadonlyDeep<z.infer<typeof destination>>
/** What an event subscription says of a destination of this kind. */
export type DestinationProperties<Type extends Destination['endpointType']> = Extract<
  Destination,
  { endpointType: Type }
>['properties']
export type WebHookProperties = DestinationProperties<'WebHook'>
export type DeliveryAttributeMapping = NonNullable<WebHookProperties['deliveryAttributeMappings']>[number]
export type DeadLetterDestination = ReadonlyDeep<z.infer<typeof deadLetterDestination>>

/** The delivery attributes of a destination; undefined where none are given, or its kind has none. */
export function deliveryAttributesOf(destination: Destination | undefined) {
  switch (destination?.endpointType) {
    case undefined:
    case 'StorageQueue':
    case 'MonitorAlert':
      return undefined
    default:
      return destination?.properties.deliveryAttributeMappings
  }
}

/** The batching of a destination, which web hooks and functions have; undefined without, which needs `maxEventsPerBatch` above 1. */
export function batchingOf(
  destination: Destination | undefined,
): { readonly maxEvents: number; readonly preferredBytes: number } | undefined {
  if (destination?.endpointType !== 'WebHook' && destination?.endpointType !== 'AzureFunction') return undefined
  const { maxEventsPerBatch: maxEvents = 1, preferredBatchSizeInKilobytes = 64 } = destination.properties
  return maxEvents > 1 ? { maxEvents, preferredBytes: preferredBatchSizeInKilobytes * 1024 } : undefined
}
