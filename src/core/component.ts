/** `Component`, what the loader gives: its values, for whom it is, its sides and port; and the places of all in the file. */
import { isRecord } from '../support/text/json-text.ts'
import type { Secret } from './secret.ts'

/** A side of a component: it receives events, or publishes them. */
export type Side = 'input' | 'output'

/** A component of a YAML file: `Binding.init` takes it. */
export interface Component {
  readonly name: string
  /** As written. */
  readonly type: string
  /** @default 'v1' */
  readonly version: string
  /** Values by name, each as text or as a `Secret`. */
  readonly properties: ComponentProperties
  /** The secret store that the component names (`auth.secretStore`). Absent: none. */
  readonly secretStore?: string
  /** The ids of the applications that the component is for. Absent: every application. */
  readonly scopes?: readonly string[]
  /** `spec.ignoreErrors`: where the component fails, the process is to go on without it. @default false */
  readonly ignoreErrors: boolean
  /** `input`, `output` or both, in this order. Of another vendor's type: what its field `direction` says, else both. */
  readonly sides: readonly Side[]
  /** The `handshakePort` that `init` will bind; 0 takes a free port. Absent: the component has no listener. */
  readonly port?: number
  /** The places of its values in the file, which `init` names in its errors. */
  readonly places: ComponentPlaces
}

/**
 * Values by name. What may be printed is plain text. All else (secret fields, what a `secretKeyRef` gave, a URL with a
 * query, unknown names) is a `Secret`, whose `reveal()` gives the text. A number or boolean stays
 * one, and is a fault to `init`.
 */
export type ComponentProperties = Readonly<Record<string, string | number | boolean | Pick<Secret, 'reveal'>>>

/** Places in a YAML file. */
export interface ComponentPlaces {
  readonly name: FilePlace
  readonly type: FilePlace
  readonly version: FilePlace
  /** By the name of the property: the place of its value, or of the name itself if it is not a metadata field. */
  readonly properties: Readonly<Record<string, FilePlace>>
}

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
