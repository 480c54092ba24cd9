/** A place in a file as data: its order, its words, and how it is read from a value of unknown form. */
import { isRecord } from '../support/text/is-record.ts'

/** A place in a file. Lines and columns count from 1. */
export interface FilePlace {
  readonly file: string
  readonly line: number
  readonly column: number
}

/** The place of what is wrong with a file as a whole, or with a folder: its first line. */
export const wholeFile = (file: string): FilePlace => ({ file, line: 1, column: 1 })

export const placeInWords = ({ file, line, column }: FilePlace): string => `${file}:${line}:${column}`

/** The order of places in one file; what has no place comes last. */
export function comparePlaces(one: FilePlace | undefined, other: FilePlace | undefined): number {
  if (one === undefined || other === undefined) return Number(one === undefined) - Number(other === undefined)
  return one.line - other.line || one.column - other.column
}

/** `undefined` for a value that is not a place. */
export function readPlace(value: unknown): FilePlace | undefined {
  const { file, line, column } = isRecord(value) ? value : {}
  if (typeof file !== 'string' || typeof line !== 'number' || typeof column !== 'number') return undefined
  return { file, line, column }
}
