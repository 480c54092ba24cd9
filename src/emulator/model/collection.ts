/** Resources of one kind. Keys compare without regard to case, as ARM's ids do. */
export interface Collection<Resource> {
  get(key: string): Resource | undefined
  all(): readonly Resource[]
  /** Those of one group, such as the event subscriptions of a source. */
  of(group: string): readonly Resource[]
  put(resource: Resource): void
  delete(resource: Resource): void
  /** Lists the resources with these keys before all others. */
  lead(keys: readonly string[]): void
}

/** Where the resources of one kind are persisted, by key. */
export interface Shelf<Resource> {
  /** The values are trusted: a state file is the emulator's own, and was checked when it was opened. */
  all(): readonly Resource[]
  put(key: string, resource: Resource): void
  delete(key: string): void
}

export type Shelves = <Resource>(kind: string) => Shelf<Resource>

/** Persists nothing: the resources end with the process. */
export const noShelves: Shelves = () => ({ all: () => [], put: () => {}, delete: () => {} })

/**
 * Makes a collection of the persisted resources, by their ids. Every change is persisted before it returns.
 *
 * @param group the name of the group that a resource is in
 */
export function createCollection<Resource extends { readonly id: string }>(
  shelf: Shelf<Resource>,
  group: (resource: Resource) => string = () => '',
): Collection<Resource> {
  const resources = new Map<string, Resource>()
  const groups = new Map<string, Map<string, Resource>>()
  const keyOf = ({ id }: Resource) => id.toLowerCase()
  const groupOf = (resource: Resource) => group(resource).toLowerCase()

  function add(resource: Resource): void {
    const members = groups.get(groupOf(resource)) ?? new Map<string, Resource>()
    groups.set(groupOf(resource), members.set(keyOf(resource), resource))
    resources.set(keyOf(resource), resource)
  }

  for (const resource of shelf.all()) add(resource)
  return {
    get: (key) => resources.get(key.toLowerCase()),
    all: () => [...resources.values()],
    of: (name) => [...(groups.get(name.toLowerCase())?.values() ?? [])],
    put(resource) {
      shelf.put(keyOf(resource), resource)
      add(resource)
    },
    delete(resource) {
      const [key, members] = [keyOf(resource), groups.get(groupOf(resource))]
      shelf.delete(key)
      resources.delete(key)
      members?.delete(key)
      if (members?.size === 0) groups.delete(groupOf(resource))
    },
    lead(keys) {
      const leading = keys.flatMap((key) => resources.get(key.toLowerCase()) ?? [])
      const all = new Set([...leading, ...resources.values()])
      resources.clear()
      groups.clear()
      for (const resource of all) add(resource)
    },
  }
}
