/** The part of a binding that {@link EventGridEmulator.connect} calls: the library's `Binding` has it. */
export interface Connectable {
  /** Where the binding listens, once it does. */
  address(): { readonly port: number } | undefined
  init(component: { readonly name: string; readonly properties: Readonly<Record<string, string>> }): Promise<void>
}

/** What a binding is connected to. */
export interface ConnectOptions {
  /** Name of the custom topic, for both sides. @default the first topic */
  readonly topic?: string
  /** The component's name, from which the event subscription takes its name. @default the topic's name */
  readonly name?: string
  /** Further metadata fields, and fields in the place of the emulator's. An empty value leaves a field out. */
  readonly metadata?: Readonly<Record<string, string>>
}
