/** How a host runtime finds this binding: its component types, version and metadata fields. */
import { componentTypes, componentVersion } from '../metadata/component/component-definition.ts'
import { type MetadataField, metadataFields } from '../metadata/fields/find-field.ts'
import { Binding } from './binding.ts'
import type { BindingComponent, BindingComponentOptions } from './binding-component.ts'
import type { BindingOptions } from './binding-options.ts'

/** What a host runtime registers to load a binding as a plugin. */
export interface ComponentDescriptor {
  /** The component types it answers to; compared without regard to case. */
  readonly types: readonly string[]
  /** The component version: `v1`. */
  readonly version: string
  /** Makes the binding of one component; `init` it with that component. */
  create(options?: BindingComponentOptions): BindingComponent
  /** Every metadata field with its sides, whether it is required, secret, and its meaning. */
  readonly metadata: readonly Pick<MetadataField, 'name' | 'sides' | 'required' | 'secret' | 'about'>[]
}

/** The descriptor of this binding: it takes options of its own, and tells more of each field. */
export interface EventGridDescriptor extends ComponentDescriptor {
  create(options?: BindingOptions): Binding
  readonly metadata: readonly MetadataField[]
}

/** This binding's plugin descriptor. */
export const component: EventGridDescriptor = {
  types: componentTypes,
  version: componentVersion,
  create: (options) => new Binding(options),
  metadata: metadataFields,
}
