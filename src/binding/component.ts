// Plugin descriptor for a host runtime: component types, version `v1`, list of metadata fields.
import { componentTypes, componentVersion } from '../metadata/component/component-definition.ts'
import type { MetadataField } from '../metadata/fields/find-field.ts'
import { metadataFields } from '../metadata/fields/find-field.ts'
import { Binding, type BindingOptions } from './binding.ts'

/** What a host runtime registers to load this binding as a plugin. */
export interface ComponentDescriptor {
  /** The component types it answers to; compared without regard to case. */
  readonly types: readonly string[]
  /** The component version: `v1`. */
  readonly version: string
  /** Makes the binding of one component; `init` it with that component. */
  create(options?: BindingOptions): Binding
  /** Every metadata field with its side, whether it is required, secret, its default and meaning. */
  readonly metadata: readonly MetadataField[]
}

/** This binding's plugin descriptor. */
export const component: ComponentDescriptor = {
  types: componentTypes,
  version: componentVersion,
  create: (options) => new Binding(options),
  metadata: metadataFields,
}
