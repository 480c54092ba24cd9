import { destinationOf, type EventSubscription } from '../model/model.ts'

/**
 * Why the events of a subscription are not delivered; undefined where they are. A namespace topic gets them by forwarding.
 */
export function undeliveredReason(
  { properties }: EventSubscription,
  { storageQueues }: { readonly storageQueues?: unknown },
): string | undefined {
  const type = destinationOf(properties)?.endpointType
  if (type === undefined || type === 'WebHook' || type === 'NamespaceTopic') return undefined
  if (type !== 'StorageQueue') return `The emulator does not deliver to destinations of the type ${type}.`
  if (storageQueues !== undefined) return undefined
  return (
    'The emulator has no storage account to deliver to: give storageQueueConnectionString in the configuration, ' +
    'or the option storageQueues.'
  )
}
