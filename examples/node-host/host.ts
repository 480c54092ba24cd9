import {
  type Binding,
  type BindingOptions,
  type ComponentDescriptor,
  component,
  type LoadComponentsOptions,
  loadComponents,
} from 'eventgrid-binding'

/** What the host is started with. */
export interface HostOptions {
  /** Folders and files of component YAML. */
  readonly components: string | readonly string[]
  /** Where the application listens: an event of component `orders` is posted to `{app}/orders`. */
  readonly app: string
  /** What `envRef` and `secretKeyRef` of the components refer to; the id of the application, for `scopes`. */
  readonly load?: Pick<LoadComponentsOptions, 'env' | 'secrets' | 'appId'>
  /** Handed on to each binding: logger, credential, endpoints. */
  readonly binding?: BindingOptions
}

/** A running host. */
export interface Host {
  /** The loaded bindings by component name. */
  readonly bindings: ReadonlyMap<string, Binding>
  invoke(name: string, operation: string, data: unknown): Promise<Readonly<Record<string, string>>>
  close(): Promise<void>
}

/** The plugins that this host knows, by component type. Another binding would be one more entry. */
const plugins = new Map<string, ComponentDescriptor>(component.types.map((type) => [type.toLowerCase(), component]))

/** Loads every component, forwards its events to the application, and offers its operations. */
export async function startHost(options: HostOptions): Promise<Host> {
  const { app, components, load } = options
  const bindings = new Map<string, Binding>()
  const close = async () => void (await Promise.all([...bindings.values()].map((binding) => binding.close())))
  try {
    // What no plugin answers to is left out, whatever it refers to.
    for (const definition of await loadComponents(components, { ...load, types: [...plugins.keys()] })) {
      const plugin = plugins.get(definition.type.toLowerCase())
      if (!plugin) throw new Error(`no plugin is registered for ${definition.type}`)
      const binding = plugin.create({
        ...options.binding,
        // The application's answer decides: 2xx acknowledges, anything else has the event redelivered.
        async onEvent({ data, contentType, signal }) {
          const headers = { 'content-type': contentType }
          const answer = await fetch(`${app}/${definition.name}`, { method: 'POST', headers, body: data, signal })
          if (!answer.ok) throw new Error(`the application answered ${answer.status}`)
        },
      })
      bindings.set(definition.name, binding)
      await binding.init(definition, { subscription: 'background' })
    }
  } catch (error) {
    await close()
    throw error
  }
  return {
    bindings,
    async invoke(name, operation, data) {
      const binding = bindings.get(name)
      if (!binding) throw new Error(`there is no component ${name}`)
      return { ...(await binding.invoke(operation, data)).metadata }
    },
    close,
  }
}
