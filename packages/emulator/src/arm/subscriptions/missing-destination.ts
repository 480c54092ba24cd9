// Whether the emulator knows that a destination is not there: what lies in its Azure subscriptions, but in no group of them,
// or is a namespace topic that it does not have, or a storage account that `storageAccounts` does not name.
import { randomUUID } from 'node:crypto'
import type { Directory } from '../../entra/directory.ts'
import { dotNetTime } from '../../model/events/event-grid-time.ts'
import { destinationOf, type EventSubscriptionProperties } from '../../model/resources/event-subscription.ts'
import type { NamespaceStore } from '../../model/resources/namespace-store.ts'
import { resourceGroupId } from '../../model/resources/resource-ids.ts'
import { parseArmScope } from '../call/path.ts'

export interface KnownResources {
  readonly directory: Directory
  readonly namespaces: NamespaceStore
  /** The names of all storage accounts; undefined where they are not known. */
  readonly storageAccounts?: readonly string[] | undefined
}

/** The id of the destination's resource, where that does not exist; undefined where it does, or may. */
export function missingDestination(
  { directory, namespaces, storageAccounts }: KnownResources,
  properties: EventSubscriptionProperties,
): string | undefined {
  const destination = destinationOf(properties)
  if (destination === undefined || destination.endpointType === 'WebHook') return undefined
  const { resourceId } = destination.properties
  if (typeof resourceId !== 'string') return undefined
  const parts = parseArmScope(resourceId)
  if (!parts?.resourceGroup || !directory.azureSubscription(parts.subscriptionId)) return undefined
  const [, account] = /\/providers\/Microsoft\.Storage\/storageAccounts\/([^/]+)$/i.exec(resourceId.toLowerCase()) ?? []
  const isThere =
    directory.groups.get(resourceGroupId(parts.subscriptionId, parts.resourceGroup)) !== undefined &&
    (destination.endpointType !== 'NamespaceTopic' || namespaces.topics.get(resourceId) !== undefined) &&
    (account === undefined || storageAccounts === undefined || storageAccounts.includes(account))
  return isThere ? undefined : resourceId
}

/** How the operation fails then, in Azure's words (recorded, 2026). */
export function destinationNotFound(resourceId: string, now: number) {
  const message =
    `Destination endpoint not found. Resource details: resourceId: ${resourceId}. Resource should pre-exist before ` +
    `attempting this operation. Activity id:${randomUUID()}, timestamp: ${dotNetTime(now)} (UTC).`
  return { code: 'Endpoint validation', message }
}
