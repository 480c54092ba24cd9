/** How the records of one kind are read: oldest first, as they come, and how many were left out. */
import { type InspectOptions, inspect } from 'node:util'
import { heldBytes } from '../model/held-bytes.ts'
import { createMemory, type Memory, type Rank, type RecordShelf } from './memory.ts'

/** The most bytes of all records together, unless the option `maxRecordBytes` says otherwise. */
export const defaultRecordBytes = 64 * 1024 * 1024

/** The longest body in a record, in bytes or characters. */
export const recordedBodyLimit = 16_384

/**
 * The latest records of one kind, oldest first. Bounded, so that an emulator may run for weeks: all kinds share a memory, in which
 * records of what failed are kept longest. What is left out is counted.
 */
export class RecordRing<T extends object> implements Iterable<T> {
  /** The records, oldest first. */
  readonly entries: T[] = []
  /** Number of records that were left out since the start or the last `clear()`. */
  dropped = 0
  readonly #shelf: RecordShelf<T>
  readonly #rankOf: (record: T) => Rank
  readonly #listeners = new Set<(record: T) => void>()

  /**
   * @param memory what records of other kinds are in, too. @default one of its own, 64 MiB
   * @param rankOf how long a record is kept. @default all as long
   */
  constructor(memory: Memory = createMemory(defaultRecordBytes), rankOf: (record: T) => Rank = () => 'ended') {
    this.#rankOf = rankOf
    this.#shelf = memory.shelf<T>((record) => {
      this.dropped++
      const at = this.entries.indexOf(record)
      if (at >= 0) this.entries.splice(at, 1)
    })
  }

  /** Adds a record, then calls the listeners. */
  push(record: T): void {
    this.entries.push(record)
    this.#shelf.add(record, this.#rankOf(record), heldBytes(record))
    for (const listener of this.#listeners) listener(record)
  }

  /** Number of records in the list. */
  get length(): number {
    return this.entries.length
  }

  /** The newest, if any. */
  get last(): T | undefined {
    return this.entries.at(-1)
  }

  /** The record at an index; negative ones count from the newest. */
  at(index: number): T | undefined {
    return this.entries.at(index)
  }

  [Symbol.iterator](): Iterator<T> {
    return this.all()[Symbol.iterator]()
  }

  /** All of them in an array of its own, oldest first. */
  all(): T[] {
    return [...this.entries]
  }

  /** The records for which `matches` returns true, oldest first. */
  filter(matches: (record: T) => boolean): T[] {
    return this.entries.filter((record) => matches(record))
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
    // An error of the caller's function must not reach who records.
    const stop = this.listen((record) => {
      try {
        if (!matches(record)) return
        resolve(record)
      } catch (error) {
        reject(error)
      }
      stop()
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

  /** As `console.log` shows them: in full where `console.log` of an array would be. */
  [inspect.custom](_depth: number, options: InspectOptions): string {
    const left = this.dropped > 0 ? `, ${this.dropped} left out` : ''
    return `RecordRing(${this.length}${left}) ${inspect(this.entries, options)}`
  }

  /** Forgets all records and the count of those left out; listeners stay. */
  clear(): void {
    this.#shelf.clear()
    this.entries.length = 0
    this.dropped = 0
  }
}
