// How much memory a value holds, as an estimate: the bounds of records and of pending events count by it.
import { getHeapStatistics } from 'node:v8'

/** A part of the memory that Node may use for objects (`--max-old-space-size`), in whole bytes. */
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
