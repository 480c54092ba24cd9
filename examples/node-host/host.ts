import { type BindingComponent, type ComponentDescriptor, parseComponents } from 'eventgrid-binding'
import { createMetrics } from './metrics.ts'

/** What the host is started with. */
export interface HostOptions {
  /** Component YAML; several documents may stand in it. */
  readonly components: string
  /** The bindings that this host knows, of any vendor. */
  readonly plugins: readonly ComponentDescriptor[]
  /** Where the application listens: an event of component `orders` is posted to `{app}/orders`. */
  readonly app: string
  /** What `envRef` and `secretKeyRef` of the components refer to. */
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly secrets?: Readonly<Record<string, unknown>>
}

/** A running host. */
export interface Host {
  /** The loaded bindings by component name. */
  readonly bindings: ReadonlyMap<string, BindingComponent>
  /** Prometheus metrics as text. */
  metrics(): Promise<string>
  invoke(name: string, operation: string, data: unknown): Promise<Readonly<Record<string, string>>>
  close(): Promise<void>
}

/** Loads every component, forwards its events to the application, and offers its operations. */
export async function startHost(options: HostOptions): Promise<Host> {
  const { app, plugins, env = process.env, secrets = {} } = options
  const byType = new Map(plugins.flatMap((plugin) => plugin.types.map((type) => [type.toLowerCase(), plugin] as const)))
  const bindings = new Map<string, BindingComponent>()
  const metrics = createMetrics(bindings)
  const all = <T>(run: (binding: BindingComponent) => Promise<T>) => Promise.all([...bindings.values()].map(run))
  async function close(): Promise<void> {
    // A handler of one component may publish through another.
    await all((binding) => binding.close({ sides: ['input'] }))
    await all((binding) => binding.close())
  }
  try {
    for (const definition of parseComponents(options.components, { env, secrets })) {
      const plugin = byType.get(definition.type.toLowerCase())
      if (!plugin) throw new Error(`no plugin is registered for ${definition.type}`)
      const binding = plugin.create({
        logger: console,
        // The application's answer decides: 2xx acknowledges, anything else has the event redelivered.
        onEvent: ({ data, contentType, signal }) =>
          metrics.time(definition.name, 'event', async () => {
            const headers = { 'content-type': contentType }
            const answer = await fetch(`${app}/${definition.name}`, { method: 'POST', headers, body: data, signal })
            if (!answer.ok) throw new Error(`the application answered ${answer.status}`)
          }),
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
      const { metadata } = await metrics.time(name, operation, () => binding.invoke(operation, data))
      return { ...metadata }
    },
    metrics: metrics.text,
    close,
  }
}
