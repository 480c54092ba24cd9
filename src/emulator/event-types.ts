/** The event types that a system source sends by default: its answers list them where none were asked for (Event Grid: system topics). */
const defaultEventTypes: Readonly<Record<string, readonly string[]>> = {
  'microsoft.storage/storageaccounts': ['Microsoft.Storage.BlobCreated', 'Microsoft.Storage.BlobDeleted'],
  'microsoft.resources': [
    'Microsoft.Resources.ResourceWriteSuccess',
    'Microsoft.Resources.ResourceWriteFailure',
    'Microsoft.Resources.ResourceWriteCancel',
    'Microsoft.Resources.ResourceDeleteSuccess',
    'Microsoft.Resources.ResourceDeleteFailure',
    'Microsoft.Resources.ResourceDeleteCancel',
    'Microsoft.Resources.ResourceActionSuccess',
    'Microsoft.Resources.ResourceActionFailure',
    'Microsoft.Resources.ResourceActionCancel',
  ],
}

/** The default types of a scope's source; undefined where they are not listed, as for custom topics. */
export function defaultEventTypesOf(scope: string): readonly string[] | undefined {
  const [, resource] = scope.toLowerCase().split('/providers/')
  if (resource === undefined) return defaultEventTypes['microsoft.resources']
  const [namespace, type] = resource.split('/')
  return defaultEventTypes[`${namespace}/${type}`]
}
