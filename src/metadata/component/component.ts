/** `Component`, what the loader gives: its values, for whom it is, its sides and port, and the places of all in the file. */
import type { FilePlace } from '../../core/file-place.ts'
import type { Side } from '../fields/field-entry.ts'
import type { ComponentProperties } from './component-properties.ts'

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
  /** `input`, `output` or both, in this order. Of another vendor's type: what its field `direction` says, else both. */
  readonly sides: readonly Side[]
  /** The `handshakePort` that `init` will bind; 0 takes a free one. Absent: it has no listener. */
  readonly port?: number
  /** The places of its values in the file, which `init` names in its errors. */
  readonly places: ComponentPlaces
}

/** Places in a YAML file. */
export interface ComponentPlaces {
  readonly name: FilePlace
  readonly type: FilePlace
  readonly version: FilePlace
  /** By the name of the property: the place of its value, or of the name itself if it is not a metadata field. */
  readonly properties: Readonly<Record<string, FilePlace>>
}
