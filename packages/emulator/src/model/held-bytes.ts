/** How many bytes of memory a value holds, and how many pending events, and bytes of these, the emulator takes. */
import { getHeapStatistics } from 'node:v8'

/**
 * A part of the memory that Node may use for objects, in whole bytes: of `--max-old-space-size`, and of up to 192 MiB more for young
 * objects, which those that live long cannot use.
 */
export const partOfHeap = (part: number): number => Math.floor(getHeapStatistics().heap_size_limit * part)

/** V8's objects, rounded up: header, a member with its name's place, an element, an entry of a Map. Measured on Node 24, in bytes. */
const sizes = { text: 24, object: 56, member: 24, list: 32, element: 8, map: 120, entry: 48 } as const

/** The bytes that a value of JSON, a Map or a Buffer holds, parsed as it is. A text that two values share counts twice. */
export function heldBytes(value: unknown): number {
  if (typeof value === 'string') {
    // A text with one character over U+00FF takes two bytes for each of them. One of Latin-1 counts twice, too.
    return sizes.text + (Buffer.byteLength(value) === value.length ? value.length : 2 * value.length)
  }
  if (typeof value !== 'object' || value === null) return sizes.element
  if (ArrayBuffer.isView(value)) return sizes.object + value.byteLength
  if (Array.isArray(value)) return value.reduce((sum, one) => sum + sizes.element + heldBytes(one), sizes.list)
  if (value instanceof Map) {
    let sum: number = sizes.map
    for (const [key, one] of value) sum += sizes.entry + heldBytes(key) + heldBytes(one)
    return sum
  }
  return Object.values(value).reduce((sum: number, one) => sum + sizes.member + heldBytes(one), sizes.object)
}

/** The bytes that one event holds as long as it is pending for any event subscription. */
export interface Hold {
  readonly bytes: number
  holders: number
}

/** What an event subscription holds of a pending event: its place in a queue, and what is known of its fate. */
const holderBytes = 1_500

export type PendingBound = ReturnType<typeof createPendingBound>

/**
 * Counts the pending events of webhooks and queues, once for each event subscription, and their bytes, once for each
 * event.
 */
export function createPendingBound(max: { readonly maxPending: number; readonly maxPendingBytes: number }) {
  let events = 0
  let total = 0
  return {
    /** Whether the limit of pending events, or of their bytes, is reached. */
    full: () => events >= max.maxPending || total >= max.maxPendingBytes,
    /** Counts an event that is pending for this number of event subscriptions. */
    hold(bytes: number, holders: number): Hold {
      events += holders
      total += bytes + holders * holderBytes
      return { bytes, holders }
    },
    /** The event is no longer pending for one of them. */
    release(hold: Hold | undefined): void {
      if (!hold) return
      events--
      total -= holderBytes
      if (--hold.holders === 0) total -= hold.bytes
    },
  }
}
