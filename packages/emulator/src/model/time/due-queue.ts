// Items ordered by due time: a binary heap.

interface Entry<T> {
  readonly due: number
  readonly order: number
  readonly item: T
}

/**
 * Items ordered by due time, in a binary heap, so that a million items cost little. Equal times keep their order.
 */
export class DueQueue<T> {
  readonly #heap: Entry<T>[] = []
  #order = 0

  get size(): number {
    return this.#heap.length
  }

  /** All items with their due times, in no certain order. */
  get entries(): readonly Entry<T>[] {
    return this.#heap
  }

  get first(): T | undefined {
    return this.#heap[0]?.item
  }

  /** Due time of the first item. */
  get nextDue(): number | undefined {
    return this.#heap[0]?.due
  }

  add(due: number, item: T): void {
    const heap = this.#heap
    const entry = { due, order: this.#order++, item }
    let at = heap.length
    heap.push(entry)
    while (at > 0) {
      const above = (at - 1) >> 1
      const parent = heap[above]
      if (!parent || before(parent, entry)) break
      heap[at] = parent
      at = above
    }
    heap[at] = entry
  }

  /** Removes and returns the first item that is due at `now`. */
  take(now: number): T | undefined {
    const heap = this.#heap
    const first = heap[0]
    if (!first || first.due > now) return undefined
    const last = heap.pop()
    if (last && heap.length > 0) this.#sink(last)
    return first.item
  }

  clear(): void {
    this.#heap.length = 0
  }

  #sink(entry: Entry<T>): void {
    const heap = this.#heap
    let at = 0
    for (;;) {
      const left = heap[2 * at + 1]
      const right = heap[2 * at + 2]
      const child = right && left && before(right, left) ? right : left
      if (!child || before(entry, child)) break
      heap[at] = child
      at = child === left ? 2 * at + 1 : 2 * at + 2
    }
    heap[at] = entry
  }
}

function before(one: Entry<unknown>, other: Entry<unknown>): boolean {
  return one.due < other.due || (one.due === other.due && one.order < other.order)
}
