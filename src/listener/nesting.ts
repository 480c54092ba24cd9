import { isRecord } from './cloud-event.ts'

/**
 * Does a parsed JSON value nest deeper than so many objects and arrays? An object of plain values is 1 level. It looks at values and not at
 * the text: strings, most of an event, cost nothing then, and a plain value costs no call.
 */
export function nestsDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (levels === 0) return true
  if (Array.isArray(value)) {
    for (const member of value) if (typeof member === 'object' && nestsDeeper(member, levels - 1)) return true
  } else if (isRecord(value)) {
    // Object.values would make an array of each object.
    for (const key in value) {
      const member = value[key]
      if (typeof member === 'object' && nestsDeeper(member, levels - 1)) return true
    }
  }
  return false
}
