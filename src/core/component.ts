/** `Component`, what the loader gives: its values, for whom it is, its sides and port, and the places of all in the file. */
import type { FilePlace } from './file-place.ts'
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
  /** The secret store that it names (`auth.secretStore`). Absent: none. */
  readonly secretStore?: string
  /** The ids of the applications that it is for. Absent: every one. */
  readonly scopes?: readonly string[]
  /** `spec.ignoreErrors`: where it fails, the process is to go on without it. @default false */
  readonly ignoreErrors: boolean
  /** `input`, `output` or both, in this order. Of another vendor's type: what its field `direction` says, else both. */
  readonly sides: readonly Side[]
  /** The `handshakePort` that `init` will bind; 0 takes a free one. Absent: it has no listener. */
  readonly port?: number
  /** The places of its values in the file, which `init` names in its errors. */
  readonly places: ComponentPlaces
}

/**
 * Values by name. What may be printed is plain text. All else (secret fields, what a `secretKeyRef` gave, a URL with a
 * query, unknown names) is a `Secret`, whose `reveal()` gives the text. A number or boolean stays
 * one, and is a fault to `init`.
 */
export type ComponentProperties = Readonly<Record<string, string | number | boolean | Secret>>

/** Places in a YAML file. */
export interface ComponentPlaces {
  readonly name: FilePlace
  readonly type: FilePlace
  readonly version: FilePlace
  /** By the name of the property: the place of its value, or of the name itself if it is not a metadata field. */
  readonly properties: Readonly<Record<string, FilePlace>>
}
