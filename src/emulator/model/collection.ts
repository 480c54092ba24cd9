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
export interface Shelf {
  all(): readonly unknown[]
  put(key: string, resource: unknown): void
  delete(key: string): void
}

export type Shelves = (kind: string) => Shelf

/** Persists nothing: the resources end with the process. */
export const noShelves: Shelves = () => ({ all: () => [], put: () => {}, delete: () => {} })

export interface CollectionOptions<Resource> {
  readonly keyOf: (resource: Resource) => string
  readonly groupOf?: (resource: Resource) => string
  readonly shelf: Shelf
  /** Tells the kinds apart. A state file is the emulator's own and was checked when it was opened. */
  readonly isResource: (value: unknown) => value is Resource
}

/** Makes a collection of the persisted resources. Every change is persisted before it returns. */
export function createCollection<Resource>(options: CollectionOptions<Resource>): Collection<Resource> {
  const { shelf } = options
  const resources = new Map<string, Resource>()
  const groups = new Map<string, Map<string, Resource>>()
  const keyOf = (resource: Resource) => options.keyOf(resource).toLowerCase()
  const groupOf = (resource: Resource) => (options.groupOf?.(resource) ?? '').toLowerCase()

  function add(resource: Resource): void {
    const group = groups.get(groupOf(resource)) ?? new Map<string, Resource>()
    groups.set(groupOf(resource), group.set(keyOf(resource), resource))
    resources.set(keyOf(resource), resource)
  }

  for (const resource of shelf.all().filter(options.isResource)) add(resource)
  return {
    get: (key) => resources.get(key.toLowerCase()),
    all: () => [...resources.values()],
    of: (group) => [...(groups.get(group.toLowerCase())?.values() ?? [])],
    put(resource) {
      shelf.put(keyOf(resource), resource)
      add(resource)
    },
    delete(resource) {
      const [key, group] = [keyOf(resource), groups.get(groupOf(resource))]
      shelf.delete(key)
      resources.delete(key)
      group?.delete(key)
      if (group?.size === 0) groups.delete(groupOf(resource))
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
