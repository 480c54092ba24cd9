import type { Directory } from '../entra/directory.ts'
import { emulatorDefaults, type Place } from './options.ts'

/**
 * The resource group of a declared resource. By default it is the first group of the first Azure subscription; a group
 * that does not exist is created. Throws a RangeError for an unknown Azure subscription.
 */
export function declaredGroup(directory: Directory, declared: Place) {
  const wanted = declared.subscriptionId ?? directory.azureSubscriptions()[0]?.id ?? ''
  const azure = directory.azureSubscription(wanted)
  if (!azure) throw new RangeError(`there is no Azure subscription ${wanted}`)
  const groups = azure.resourceGroups
  const resourceGroup = declared.resourceGroup ?? [...groups.values()][0] ?? emulatorDefaults.resourceGroup
  groups.set(resourceGroup.toLowerCase(), resourceGroup)
  return { subscriptionId: azure.id, resourceGroup }
}
