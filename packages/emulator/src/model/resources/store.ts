/** Where topics, domains, event subscriptions, resource groups and role assignments are stored, and how each is found. */
import type { EventSubscription } from './event-subscription.ts'
import {
  isOfType,
  isPublishable,
  type Publishable,
  parentId,
  type Resource,
  type ResourceGroup,
  type ResourceOf,
  type RoleAssignment,
  regionName,
  type TrackedType,
  trackedTypes,
} from './resource.ts'

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
      resources.deleteAnyway(resource)
      unlabel(resource)
    },
    listResourcesFirst: resources.listFirst,
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

/** Where the resources of one kind are persisted, by key. */
export interface Shelf<Resource> {
  /** The values are trusted: a state file is the emulator's own, and was checked when it was opened. */
  all(): readonly Resource[]
  /** Throws if it can't be persisted. */
  put(key: string, resource: Resource): void
  /** Throws in the same way. */
  delete(key: string): void
}

export type Shelves = <Resource>(kind: string) => Shelf<Resource>

/** Persists nothing: the resources end with the process. */
export const noShelves: Shelves = () => ({
  all: () => [],
  put: () => {},
  delete: () => {},
})

function anyway(write: () => void): void {
  try {
    write()
  } catch {
    // The state file has warned.
  }
}

/**
 * Makes a collection of the persisted resources of one kind. Ids compare without regard to case, as ARM's do. Every change of a
 * caller is persisted before it returns.
 *
 * @param group the name of the group that a resource is in
 */
export function createCollection<Resource extends { readonly id: string }>(
  shelf: Shelf<Resource>,
  group: (resource: Resource) => string = () => '',
) {
  const resources = new Map<string, Resource>()
  const groups = new Map<string, Map<string, Resource>>()
  const keyOf = ({ id }: Resource) => id.toLowerCase()
  const groupOf = (resource: Resource) => group(resource).toLowerCase()

  function add(resource: Resource): void {
    const members = groups.get(groupOf(resource)) ?? new Map<string, Resource>()
    groups.set(groupOf(resource), members.set(keyOf(resource), resource))
    resources.set(keyOf(resource), resource)
  }

  function take(resource: Resource): void {
    const [key, members] = [keyOf(resource), groups.get(groupOf(resource))]
    resources.delete(key)
    members?.delete(key)
    if (members?.size === 0) groups.delete(groupOf(resource))
  }

  for (const resource of shelf.all()) add(resource)
  return {
    get: (id: string): Resource | undefined => resources.get(id.toLowerCase()),
    all: (): readonly Resource[] => [...resources.values()],
    /** Those of one group, such as the event subscriptions of a source. */
    of: (name: string): readonly Resource[] => [...(groups.get(name.toLowerCase())?.values() ?? [])],
    put(resource: Resource): void {
      shelf.put(keyOf(resource), resource)
      add(resource)
    },
    delete(resource: Resource): void {
      shelf.delete(keyOf(resource))
      take(resource)
    },
    /** As `put`, for what happens without a caller: a full disk does not stop the change, which the next start makes again. */
    putAnyway(resource: Resource): void {
      anyway(() => shelf.put(keyOf(resource), resource))
      add(resource)
    },
    /** As `delete`, in the same way. */
    deleteAnyway(resource: Resource): void {
      anyway(() => shelf.delete(keyOf(resource)))
      take(resource)
    },
    /** Lists these resources before all others. */
    listFirst(first: readonly Pick<Resource, 'id'>[]): void {
      const leading = first.flatMap(({ id }) => resources.get(id.toLowerCase()) ?? [])
      const all = new Set([...leading, ...resources.values()])
      resources.clear()
      groups.clear()
      for (const resource of all) add(resource)
    },
  }
}
