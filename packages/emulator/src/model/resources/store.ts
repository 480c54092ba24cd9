// Storage of topics, domains, event subscriptions, resource groups; URL label where two regions share a name.
import { createCollection, noShelves, type Shelves } from './collection.ts'
import type { EventSubscription } from './event-subscription.ts'
import {
  isOfType,
  isPublishable,
  type Publishable,
  type Resource,
  type ResourceGroup,
  type ResourceOf,
  type TrackedType,
  trackedTypes,
} from './resource.ts'
import { parentId, regionName } from './resource-ids.ts'
import type { RoleAssignment } from './role-assignment.ts'

export type Store = ReturnType<typeof createStore>

/**
 * Makes the store of Event Grid's resources, namespaces aside, and their event subscriptions on these shelves. Ids compare
 * without regard to case, as ARM's do.
 *
 * @param shelves @default in memory
 */
export function createStore(shelves: Shelves = noShelves) {
  const resources = createCollection(shelves<Resource>('resource'), ({ type }) => type)
  const groups = createCollection(shelves<ResourceGroup>('resource group'), ({ subscriptionId }) => subscriptionId)
  const subscriptions = createCollection(shelves<EventSubscription>('event subscription'), ({ scope }) => scope)
  const roleAssignments = createCollection(shelves<RoleAssignment>('role assignment'))
  const labels = new Map<string, string>()
  for (const { id, label } of resources.all().filter(isPublishable)) labels.set(label.toLowerCase(), id)
  const unlabel = (resource: Resource) => {
    if (isPublishable(resource)) labels.delete(resource.label.toLowerCase())
  }
  const ofType = <T extends Resource['type']>(type: T): readonly ResourceOf<T>[] =>
    resources.of(type).filter((resource) => isOfType(resource, type))
  return {
    resource: resources.get,
    /** Those of a type: the leading ones, then the oldest first. */
    resources: ofType,
    /** Custom topics, domains and system topics. */
    tracked: (): readonly ResourceOf<TrackedType>[] => trackedTypes.flatMap(ofType<TrackedType>),
    /** The custom topic or domain with a label. The first of a name has its name as label. */
    published(label: string): Publishable | undefined {
      const found = resources.get(labels.get(label.toLowerCase()) ?? '')
      return isPublishable(found) ? found : undefined
    },
    putResource(resource: Resource): void {
      resources.put(resource)
      if (isPublishable(resource)) labels.set(resource.label.toLowerCase(), resource.id)
    },
    deleteResource(resource: Resource): void {
      resources.delete(resource)
      unlabel(resource)
    },
    /** As `deleteResource`, for what happens without a caller. */
    deleteResourceSoon(resource: Resource): void {
      resources.deleteSoon(resource)
      unlabel(resource)
    },
    leadResources: resources.lead,
    /** All that it has, by the kinds of its shelves. */
    shelved: () => ({
      resource: resources.all(),
      'resource group': groups.all(),
      'event subscription': subscriptions.all(),
      'role assignment': roleAssignments.all(),
    }),
    /** Grouped by the ids of their Azure subscriptions. */
    groups,
    /** Grouped by their scopes. */
    subscriptions,
    /** Those that were made through Resource Manager. */
    roleAssignments,
  }
}

/** The custom topic or domain of a name, in a region or else of the label. */
export function publishedAt(store: Store, name: string, region: string | undefined): Publishable | undefined {
  const first = store.published(name)
  if (region === undefined || (first && regionName(first.location) === region)) return first
  return store.published(labelInRegion(name, region))
}

/**
 * The label of a new custom topic or domain: its name, or name and region where another region has that name already.
 * Undefined if the name is taken in the region: in Azure it is part of a host name.
 */
export function newLabel(store: Store, { name, location }: Pick<Publishable, 'name' | 'location'>): string | undefined {
  const region = regionName(location)
  if (publishedAt(store, name, region)) return undefined
  return store.published(name) ? labelInRegion(name, region) : name
}

const labelInRegion = (name: string, region: string) => `${name}.${region}`

/** The source of events at a scope: what a system topic stands for, else the scope itself. */
export function sourceOf(store: Store, scope: string): string {
  const resource = store.resource(scope)
  return resource?.type === 'systemTopics' ? resource.source : scope
}

/** The custom topic or domain whose published events occur at a scope; undefined for other sources. */
export function publisherOf(store: Store, scope: string): Publishable | undefined {
  const resource = store.resource(scope)
  if (isPublishable(resource)) return resource
  const parent = store.resource(parentId(scope))
  return parent?.type === 'domains' ? parent : undefined
}

/** The region of a resource; that of the domain for a domain topic. Undefined where the emulator does not know the resource. */
export function locationOf(store: Store, scope: string): string | undefined {
  const resource = store.resource(scope)
  return resource?.type === 'systemTopics' ? resource.location : publisherOf(store, scope)?.location
}
