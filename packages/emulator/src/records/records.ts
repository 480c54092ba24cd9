// How many records of a kind are kept (10,000 of each), longest recorded body (16,384), `waitFor`, `filter`.

/** The maximum number of records in a ring; a new record replaces the oldest. */
export const recordLimit = 10_000

/** The maximum length of a recorded body, in bytes or characters: {@link recordLimit} records need at most some hundred MB. */
export const recordedBodyLimit = 16_384

/**
 * The latest records of one kind, oldest first. Bounded, so that an emulator may run for weeks; dropped records are
 * counted.
 */
export class RecordRing<T> implements Iterable<T> {
  readonly #limit: number
  #slots: T[] = []
  #start = 0
  #dropped = 0
  readonly #listeners = new Set<(record: T) => void>()

  /** @param limit the maximum number of records. @default 10_000 */
  constructor(limit: number = recordLimit) {
    this.#limit = limit
  }

  /** Adds a record, then calls the listeners. */
  push(record: T): void {
    if (this.#slots.length < this.#limit) {
      this.#slots.push(record)
    } else {
      this.#slots[this.#start] = record
      this.#start = (this.#start + 1) % this.#limit
      this.#dropped++
    }
    for (const listener of this.#listeners) listener(record)
  }

  /** Number of records in the ring. */
  get length(): number {
    return this.#slots.length
  }

  /** Number of records dropped since the start or the last `clear()`. */
  get dropped(): number {
    return this.#dropped
  }

  /** The newest, if any. */
  get last(): T | undefined {
    return this.at(-1)
  }

  /** The record at an index; negative ones count from the newest. */
  at(index: number): T | undefined {
    const { length } = this.#slots
    const position = index < 0 ? length + index : index
    return position < 0 || position >= length ? undefined : this.#slots[(this.#start + position) % length]
  }

  *[Symbol.iterator](): Generator<T> {
    for (let index = 0; index < this.#slots.length; index++) {
      const record = this.at(index)
      if (record !== undefined) yield record
    }
  }

  /** All of them in an array, oldest first. */
  all(): T[] {
    return [...this]
  }

  /** The records for which `matches` returns true, oldest first. */
  filter(matches: (record: T) => boolean): T[] {
    return this.all().filter(matches)
  }

  /**
   * Resolves with the first record that matches, old or new. Rejects with the signal's reason.
   */
  async waitFor(matches: (record: T) => boolean, signal?: AbortSignal): Promise<T> {
    for (const record of this) if (matches(record)) return record
    signal?.throwIfAborted()
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    const abort = () => reject(signal?.reason)
    signal?.addEventListener('abort', abort)
    const stop = this.listen((record) => {
      if (!matches(record)) return
      stop()
      resolve(record)
    })
    return promise.finally(() => {
      stop()
      signal?.removeEventListener('abort', abort)
    })
  }

  /** Calls back for each record to come, until the returned function is called. */
  listen(listener: (record: T) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** Forgets all records and the count of dropped ones; listeners stay. */
  clear(): void {
    this.#slots = []
    this.#start = 0
    this.#dropped = 0
  }
}
