/** Which kinds of sources Azure has, and which event types each sends, by default or on demand. */

import { requireEventGridVersion } from '../call/api-versions.ts'
import type { ArmAnswer, ArmCall, ArmResources } from '../call/call.ts'
import { armErrors } from '../call/errors.ts'
import { parseArmScope, type TargetOf } from '../call/path.ts'
import { answerList, authorizeCall } from '../call/resource-answers.ts'

/** A kind of source of Azure. */
export interface TopicType {
  readonly name: string
  readonly displayName: string
  readonly description: string
  readonly isGlobal?: boolean
  /** Sent to subscriptions without `includedEventTypes`; answers list them. */
  readonly byDefault: readonly string[]
  /** Sent to subscriptions that include them. */
  readonly onDemand?: readonly string[]
}

const named = (prefix: string, ...names: readonly string[]) => names.map((name) => `${prefix}.${name}`)
const resources = ['Write', 'Delete', 'Action'].flatMap((verb) =>
  ['Success', 'Failure', 'Cancel'].map((end) => `Microsoft.Resources.Resource${verb}${end}`),
)

/**
 * The kinds of sources that the emulator lists. Names and texts are those of recorded answers. Event types are those of the
 * SDK for JavaScript and of the pages event-schema-* of Event Grid. Only those of Storage say which ones are sent by default.
 */
export const topicTypes: readonly TopicType[] = [
  {
    name: 'Microsoft.Storage.StorageAccounts',
    displayName: 'Storage Accounts',
    description: 'Microsoft Storage service events.',
    byDefault: named('Microsoft.Storage', 'BlobCreated', 'BlobDeleted'),
    onDemand: named(
      'Microsoft.Storage',
      'AsyncOperationInitiated',
      'BlobInventoryPolicyCompleted',
      'BlobRenamed',
      'BlobTierChanged',
      'DirectoryCreated',
      'DirectoryDeleted',
      'DirectoryRenamed',
      'LifecyclePolicyCompleted',
      'StorageTaskAssignmentCompleted',
      'StorageTaskAssignmentQueued',
      'StorageTaskCompleted',
      'StorageTaskQueued',
    ),
  },
  {
    name: 'Microsoft.Resources.Subscriptions',
    displayName: 'Azure Subscriptions',
    description: 'Resource management events under an Azure subscription',
    isGlobal: true,
    byDefault: resources,
  },
  {
    name: 'Microsoft.Resources.ResourceGroups',
    displayName: 'Resource Groups',
    description: 'Resource management events under a resource group.',
    isGlobal: true,
    byDefault: resources,
  },
  {
    name: 'Microsoft.ContainerRegistry.Registries',
    displayName: 'Azure Container Registry',
    description: 'Azure Container Registry service events',
    byDefault: named('Microsoft.ContainerRegistry', 'ImagePushed', 'ImageDeleted', 'ChartPushed', 'ChartDeleted'),
  },
  {
    name: 'Microsoft.KeyVault.Vaults',
    displayName: 'Azure Key Vault',
    description: 'Azure Key Vault service events',
    byDefault: [
      ...['Certificate', 'Key', 'Secret'].flatMap((kind) =>
        named(`Microsoft.KeyVault`, `${kind}NewVersionCreated`, `${kind}NearExpiry`, `${kind}Expired`),
      ),
      'Microsoft.KeyVault.VaultAccessPolicyChanged',
    ],
  },
  {
    name: 'Microsoft.AppConfiguration.ConfigurationStores',
    displayName: 'Azure App Configuration',
    description: 'Azure App Configuration service events',
    byDefault: named(
      'Microsoft.AppConfiguration',
      'KeyValueModified',
      'KeyValueDeleted',
      'SnapshotCreated',
      'SnapshotModified',
    ),
  },
  {
    name: 'Microsoft.Eventhub.Namespaces',
    displayName: 'Event Hubs Namespaces',
    description: 'Microsoft Event Hubs service events.',
    byDefault: ['Microsoft.EventHub.CaptureFileCreated'],
  },
  {
    name: 'Microsoft.EventGrid.Namespaces',
    displayName: 'Event Grid Namespaces',
    description: 'Microsoft Event Grid Namespaces events.',
    byDefault: named(
      'Microsoft.EventGrid',
      'MQTTClientSessionConnected',
      'MQTTClientSessionDisconnected',
      'MQTTClientCreatedOrUpdated',
      'MQTTClientDeleted',
    ),
  },
  {
    name: 'Microsoft.ServiceBus.Namespaces',
    displayName: 'Service Bus Namespaces',
    description: 'Service Bus events',
    byDefault: ['ActiveMessagesAvailable', 'DeadletterMessagesAvailable'].flatMap((prefix) =>
      named('Microsoft.ServiceBus', `${prefix}WithNoListeners`, `${prefix}PeriodicNotifications`),
    ),
  },
  {
    name: 'Microsoft.Devices.IoTHubs',
    displayName: 'Azure IoT Hub Accounts',
    description: 'Azure IoT Hub service events',
    byDefault: named(
      'Microsoft.Devices',
      'DeviceCreated',
      'DeviceDeleted',
      'DeviceConnected',
      'DeviceDisconnected',
      'DeviceTelemetry',
    ),
  },
]

/** `Microsoft.EventGrid.Topics`, `Microsoft.Resources.Subscriptions` and so on, in the letter case of the scope. */
export function topicTypeOf(scope: string): string {
  const parts = parseArmScope(scope)
  if (parts?.resource) return [parts.resource.namespace, ...parts.resource.types].join('.')
  return parts?.resourceGroup ? 'Microsoft.Resources.ResourceGroups' : 'Microsoft.Resources.Subscriptions'
}

/** The kind of a source, or of a name; undefined for one that the emulator does not list. */
export function findTopicType(name: string): TopicType | undefined {
  return topicTypes.find((type) => type.name.toLowerCase() === name.toLowerCase())
}

/**
 * The default types of a source, as an api-version lists them; undefined for sources without a list, such as custom topics
 * since 2019.
 */
export function defaultEventTypesOf(source: string, apiVersion: string): readonly string[] | undefined {
  const ours = /\/providers\/microsoft\.eventgrid\/(topics|domains)\//i.test(source)
  return ours && apiVersion.startsWith('2018-') ? ['All'] : findTopicType(topicTypeOf(source))?.byDefault
}

/** The first of these types that a source never sends; undefined if all may be sent, or if its types are not known. */
export function unknownEventType(source: string, wanted: readonly string[]): string | undefined {
  const type = findTopicType(topicTypeOf(source))
  if (!type) return undefined
  const known = new Set(['all', ...type.byDefault, ...(type.onDemand ?? [])].map((name) => name.toLowerCase()))
  return wanted.find((name) => !known.has(name.toLowerCase()))
}

/** The kinds of sources of Azure, and their event types. Any caller may read them. */
export function answerTopicTypes(call: ArmCall, target: TargetOf<'topicTypes'>): ArmAnswer {
  requireEventGridVersion(call, 'topicTypes')
  if (call.method !== 'GET') throw armErrors.methodNotAllowed(call.method, 'GET')
  if (target.name === undefined) return answerList(call, topicTypes, viewTopicType)
  const type = findTopicType(target.name)
  if (!type) throw armErrors.topicTypeNotFound(target.name)
  return target.eventTypes
    ? { status: 200, body: { value: viewEventTypes(type) } }
    : { status: 200, body: viewTopicType(type) }
}

export function answerEventTypes(resources: ArmResources, call: ArmCall, { scope }: TargetOf<'eventTypes'>): ArmAnswer {
  const action = 'Microsoft.EventGrid/eventTypes/read'
  authorizeCall(resources, call, { scope, type: 'eventTypes', action, at: scope })
  if (call.method !== 'GET') throw armErrors.methodNotAllowed(call.method, 'GET')
  const type = findTopicType(topicTypeOf(scope))
  return { status: 200, body: { value: type ? viewEventTypes(type) : [] } }
}

function viewTopicType({ name, displayName, description, isGlobal }: TopicType) {
  return {
    properties: {
      provider: name.split('.').slice(0, -1).join('.'),
      displayName,
      description,
      resourceRegionType: isGlobal ? 'GlobalResource' : 'RegionalResource',
      provisioningState: 'Succeeded',
    },
    id: `providers/Microsoft.EventGrid/topicTypes/${name}`,
    name,
    type: 'Microsoft.EventGrid/topicTypes',
  }
}

function viewEventTypes({ name, byDefault, onDemand = [] }: TopicType) {
  return [...byDefault, ...onDemand].map((eventType) => {
    const displayName = (eventType.split('.').at(-1) ?? '').replace(/(?<=[a-z])(?=[A-Z])/g, ' ')
    return {
      properties: {
        displayName,
        description: `Event of the type ${eventType}.`,
        schemaUrl: 'tbd',
        isInDefaultSet: byDefault.includes(eventType),
      },
      id: `providers/Microsoft.EventGrid/topicTypes/${name}/eventTypes/${eventType}`,
      name: eventType,
      type: 'Microsoft.EventGrid/topicTypes/eventTypes',
    }
  })
}
