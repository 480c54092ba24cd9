/** What Resource Manager tells of topic types and of their event types. */

import type { Store } from '../../model/resources/store.ts'
import { type TopicType, topicTypes } from '../../model/resources/topic-type-table.ts'
import { findTopicType, topicTypeAt } from '../../model/resources/topic-types.ts'
import { requireEventGridVersion, visibleIn } from '../call/api-versions.ts'
import type { ArmAnswer, ArmCall, ArmResources } from '../call/call.ts'
import { armErrors } from '../call/errors.ts'
import type { TargetOf } from '../call/path.ts'
import { authorizeCall } from '../call/resource-answers.ts'
import { topicTypeLocations } from './topic-type-locations.ts'

/**
 * The default types of a source, as an api-version lists them; undefined for sources without a list, such as custom topics
 * since 2019.
 */
export function defaultEventTypesAt(store: Store, scope: string, apiVersion: string): readonly string[] | undefined {
  const ours = /\/providers\/microsoft\.eventgrid\/(topics|domains)\//i.test(scope)
  return ours && apiVersion.startsWith('2018-') ? ['All'] : topicTypeAt(store, scope)?.byDefault
}

/** The kinds of sources of Azure, and their event types. Any caller may read them. */
export function answerTopicTypes(call: ArmCall, target: TargetOf<'topicTypes'>): ArmAnswer {
  requireEventGridVersion(call, 'topicTypes')
  if (call.method !== 'GET') throw armErrors.methodNotAllowed(call.method, 'GET')
  if (target.name === undefined) {
    return { status: 200, body: { value: topicTypes.map((type) => viewTopicType(type, call.apiVersion)) } }
  }
  const type = findTopicType(target.name)
  if (!type) throw armErrors.topicTypeNotFound(target.name)
  return target.eventTypes
    ? { status: 200, body: { value: viewEventTypes(type) } }
    : { status: 200, body: viewTopicType(type, call.apiVersion) }
}

export function answerEventTypes(resources: ArmResources, call: ArmCall, { scope }: TargetOf<'eventTypes'>): ArmAnswer {
  const action = 'Microsoft.EventGrid/eventTypes/read'
  authorizeCall(resources, call, { scope, type: 'eventTypes', action, at: scope })
  if (call.method !== 'GET') throw armErrors.methodNotAllowed(call.method, 'GET')
  const type = topicTypeAt(resources.store, scope)
  return { status: 200, body: { value: type ? viewEventTypes(type) : [] } }
}

function viewTopicType(type: TopicType, apiVersion: string) {
  const { name, description, isGlobal, isAnywhere, source, sourceFormat, scopes, permission } = type
  const displayName = (apiVersion.startsWith('2018-') && type.displayNameOf2018) || type.displayName
  const provider = name.split('.').slice(0, -1).join('.')
  const group = '/subscriptions/<subscriptionId>/resourceGroups/<resourceGroupName>/providers/'
  const sourceResourceFormat = sourceFormat ?? (source && group + source)
  return {
    properties: {
      ...{ provider, displayName, description },
      resourceRegionType: isGlobal ? 'GlobalResource' : 'RegionalResource',
      provisioningState: 'Succeeded',
      ...visibleIn(apiVersion, {
        supportedLocations: topicTypeLocations[name],
        sourceResourceFormat,
        supportedScopesForSource: scopes,
        areRegionalAndGlobalSourcesSupported: isAnywhere,
        additionalEnforcedPermissions: permission && [
          { permissionName: `Microsoft.ResourceNotifications/systemTopics/${permission}/action`, isDataAction: false },
        ],
      }),
    },
    id: `providers/Microsoft.EventGrid/topicTypes/${name}`,
    name,
    type: 'Microsoft.EventGrid/topicTypes',
  }
}

/** The words for event types that are on record. */
const recordedWords: Readonly<Record<string, { readonly displayName?: string; readonly description: string }>> = {
  ...resourceWords(),
  BlobCreated: { description: 'Raised when a blob is created.' },
  BlobDeleted: { description: 'Raised when a blob is deleted.' },
  DirectoryCreated: { description: 'Event published when a directory is created' },
  DirectoryDeleted: { description: 'Event published when a directory is deleted' },
  BlobRenamed: { description: 'Event published when a blob is renamed' },
  DirectoryRenamed: { description: 'Event published when a directory is renamed' },
  BlobTierChanged: { description: 'Event published when blob tier is changed.' },
  BlobInventoryPolicyCompleted: {
    displayName: 'Blob Inventory Completed',
    description: 'Raised when a blob inventory is completed.',
  },
  AsyncOperationInitiated: {
    description: 'Event published when blob rehydration is triggered using either the CopyBlob or SetBlobTier APIs.',
  },
  LifecyclePolicyCompleted: { description: 'Raised when a lifecycle policy is completed.' },
}

function resourceWords() {
  const subjects = { Write: 'create or update operation', Delete: 'delete operation', Action: 'action operation' }
  const ends = { Success: 'succeeds', Failure: 'fails', Cancel: 'is cancelled' }
  const words = Object.entries(subjects).flatMap(([verb, subject]) =>
    Object.entries(ends).map(([end, what]) => [
      `Resource${verb}${end}`,
      { description: `Raised when a resource ${subject} ${what}.` },
    ]),
  )
  return {
    ...Object.fromEntries(words),
    ResourceDeleteSuccess: { description: 'Raised when a resource deletion operation succeeds.' },
    ResourceDeleteCancel: {
      description: 'Raised when a resource delete is cancelled. This happens when template deployment is cancelled.',
    },
  }
}

/** The event types whose schema has an address on record. */
const withSchema =
  /^Microsoft\.(Resources)\.|^Microsoft\.(Storage)\.(?:Blob(?:Created|Deleted|Inventory)|Async|Lifecycle)/
const schemas = 'https://raw.githubusercontent.com/Azure/azure-rest-api-specs/master/specification/eventgrid/data-plane'

function viewEventTypes({ name, byDefault = [], onDemand = [] }: TopicType) {
  return [...byDefault, ...onDemand].map((eventType) => {
    const last = eventType.split('.').at(-1) ?? ''
    const [, resources, storage] = withSchema.exec(eventType) ?? []
    const provider = resources ?? storage
    return {
      properties: {
        displayName: last.replace(/(?<=[a-z])(?=[A-Z])/g, ' '),
        description: `Event of the type ${eventType}.`,
        ...recordedWords[last],
        schemaUrl: provider ? `${schemas}/Microsoft.${provider}/stable/2018-01-01/${provider}.json` : 'tbd',
        // Absent of the others (recorded, 2026).
        ...(byDefault.includes(eventType) && { isInDefaultSet: true }),
      },
      id: `providers/Microsoft.EventGrid/topicTypes/${name}/eventTypes/${eventType}`,
      name: eventType,
      type: 'Microsoft.EventGrid/topicTypes/eventTypes',
    }
  })
}
