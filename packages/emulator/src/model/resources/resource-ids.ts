// Ids, names and regions of resources: how they are made, taken apart and compared. Letter case does not count in them.
import type { TrackedResource } from './resource.ts'

/** The id of a resource group. */
export function resourceGroupId(subscriptionId: string, name: string): string {
  return `/subscriptions/${subscriptionId}/resourceGroups/${name}`
}

/** The id of a resource in a resource group. */
export function resourceId(
  type: 'topics' | 'domains' | 'systemTopics' | 'namespaces',
  { subscriptionId, resourceGroup, name }: Pick<TrackedResource, 'subscriptionId' | 'resourceGroup' | 'name'>,
): string {
  return `${resourceGroupId(subscriptionId, resourceGroup)}/providers/Microsoft.EventGrid/${type}/${name}`
}

/** The id of an event subscription. @param scope the source's resource id */
export function eventSubscriptionId(scope: string, name: string): string {
  return `${scope}/providers/Microsoft.EventGrid/eventSubscriptions/${name}`
}

/** The resource that contains a domain topic, or an event subscription at its nested path. */
export const parentId = (id: string): string => id.replace(/\/[^/]+\/[^/]+$/, '')

/** An id with its leading slash and without a trailing one, however it was written. */
export function asResourceId(id: string): string {
  return `/${id.replace(/^\/|\/$/g, '')}`
}

/** Whether two ids, or two names, are the same. */
export const sameName = (one: string | undefined, other: string | undefined): boolean =>
  one?.toLowerCase() === other?.toLowerCase()

/** Whether an id is below a scope. */
export function isBelow(scope: string, id: string): boolean {
  return id.toLowerCase().startsWith(`${scope.toLowerCase()}/`)
}

/** Whether an id is that of a scope, or below it. `/` is the scope of everything. */
export function covers(scope: string, id: string): boolean {
  const outer = scope.replace(/(?<!\/)\/+$/, '')
  return sameName(outer, id) || isBelow(outer, id)
}

/** The resource of this name. Several regions may have one: the first counts. Without a name, the first resource of all. */
export const named = <T extends { readonly name: string }>(
  all: readonly T[],
  name: string | undefined,
): T | undefined => (name === undefined ? all[0] : all.find((one) => sameName(one.name, name)))

/** A region as host names and URLs have it: `West Europe` is `westeurope`. */
export const regionName = (location: string): string => location.toLowerCase().replaceAll(' ', '')
