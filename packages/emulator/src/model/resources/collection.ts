// Stored resources by id regardless of letter case, grouped, persisted, in order.

/** Where the resources of one kind are persisted, by key. */
export interface Shelf<Resource> {
  /** The values are trusted: a state file is the emulator's own, and was checked when it was opened. */
  all(): readonly Resource[]
  /** Throws if it can't be persisted. */
  put(key: string, resource: Resource): void
  delete(key: string): void
  /** The same for what no caller waits for: persisted now, or as soon as that is possible. Never throws. */
  putSoon(key: string, resource: Resource): void
  deleteSoon(key: string): void
}

export type Shelves = <Resource>(kind: string) => Shelf<Resource>

/** Persists nothing: the resources end with the process. */
export const noShelves: Shelves = () => ({
  all: () => [],
  put: () => {},
  delete: () => {},
  putSoon: () => {},
  deleteSoon: () => {},
})

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
    /** As `put`, for what happens without a caller: a full disk does not stop it. The next start comes to the same. */
    putSoon(resource: Resource): void {
      shelf.putSoon(keyOf(resource), resource)
      add(resource)
    },
    /** As `delete`, in the same way. */
    deleteSoon(resource: Resource): void {
      shelf.deleteSoon(keyOf(resource))
      take(resource)
    },
    /** Lists the resources with these ids before all others. */
    lead(ids: readonly string[]): void {
      const leading = ids.flatMap((id) => resources.get(id.toLowerCase()) ?? [])
      const all = new Set([...leading, ...resources.values()])
      resources.clear()
      groups.clear()
      for (const resource of all) add(resource)
    },
  }
}
