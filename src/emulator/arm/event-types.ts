interface SourceEventTypes {
  /** Sent to subscriptions without `includedEventTypes`; answers list them. */
  readonly byDefault: readonly string[]
  /** Sent to subscriptions that include them. */
  readonly onDemand: readonly string[]
}

const storage = (...names: readonly string[]) => names.map((name) => `Microsoft.Storage.${name}`)
const resources = ['Write', 'Delete', 'Action'].flatMap((verb) =>
  ['Success', 'Failure', 'Cancel'].map((end) => `Microsoft.Resources.Resource${verb}${end}`),
)

/**
 * The event types of system sources (Event Grid: event-schema-blob-storage, event-schema-resource-groups; names as
 * the SDK for JavaScript has them).
 */
const eventTypes: Readonly<Record<string, SourceEventTypes>> = {
  'microsoft.storage/storageaccounts': {
    byDefault: storage('BlobCreated', 'BlobDeleted'),
    onDemand: storage(
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
  'microsoft.resources': { byDefault: resources, onDemand: [] },
}

function typesOf(scope: string): SourceEventTypes | undefined {
  const [, resource] = scope.toLowerCase().split('/providers/')
  if (resource === undefined) return eventTypes['microsoft.resources']
  const [namespace, type] = resource.split('/')
  return eventTypes[`${namespace}/${type}`]
}

/**
 * The default types of a scope's source, as an api-version lists them; undefined for sources without a list, such as
 * custom topics since 2019.
 */
export function defaultEventTypesOf(scope: string, apiVersion: string): readonly string[] | undefined {
  const ours = /\/providers\/microsoft\.eventgrid\/(topics|domains)\//i.test(scope)
  return ours && apiVersion.startsWith('2018-') ? ['All'] : typesOf(scope)?.byDefault
}

/**
 * The first of these types that the source of a scope never sends; undefined if all may be sent, or if its types are
 * not known.
 */
export function unknownEventType(scope: string, wanted: readonly string[]): string | undefined {
  const types = typesOf(scope)
  if (!types) return undefined
  const known = new Set(['all', ...types.byDefault, ...types.onDemand].map((name) => name.toLowerCase()))
  return wanted.find((name) => !known.has(name.toLowerCase()))
}
