import {
  type BindingComponent,
  type Component,
  type ComponentDescriptor,
  type LoadComponentsOptions,
  loadComponents,
} from 'eventgrid-binding'
import { createMetrics } from './metrics.ts'

/** What the host is started with. */
export interface HostOptions {
  /** Folders and files of component YAML. */
  readonly components: string | readonly string[]
  /** The bindings that this host knows, of any vendor. */
  readonly plugins: readonly ComponentDescriptor[]
  /** Where the application listens: an event of component `orders` is posted to `{app}/orders`. */
  readonly app: string
  /** What `envRef` and `secretKeyRef` of the components refer to; the id of the application, for `scopes`. */
  readonly load?: Pick<LoadComponentsOptions, 'env' | 'secrets' | 'appId'>
}

/** A running host. */
export interface Host {
  /** The loaded bindings by component name. */
  readonly bindings: ReadonlyMap<string, BindingComponent>
  /** Reads the components again. Where it rejects, what could not be changed goes on as before. */
  reload(): Promise<void>
  /** Prometheus metrics as text. */
  metrics(): Promise<string>
  invoke(name: string, operation: string, data: unknown): Promise<Readonly<Record<string, string>>>
  close(): Promise<void>
}

/** Loads every component, forwards its events to the application, and offers its operations. */
export async function startHost({ app, plugins, components, load: options }: HostOptions): Promise<Host> {
  const byType = new Map(plugins.flatMap((plugin) => plugin.types.map((type) => [type.toLowerCase(), plugin] as const)))
  const bindings = new Map<string, BindingComponent>()
  const makers = new WeakMap<BindingComponent, ComponentDescriptor>()
  const metrics = createMetrics(bindings)

  const create = (name: string, plugin: ComponentDescriptor): BindingComponent =>
    plugin.create({
      logger: console,
      // The application's answer decides: 2xx acknowledges, anything else has the event redelivered.
      onEvent: ({ data, contentType, signal }) =>
        metrics.time(name, 'event', async () => {
          const headers = { 'content-type': contentType }
          const answer = await fetch(`${app}/${name}`, { method: 'POST', headers, body: data, signal })
          if (!answer.ok) throw new Error(`the application answered ${answer.status}`)
        }),
    })

  async function open(definition: Component): Promise<void> {
    const { name, type } = definition
    const plugin = byType.get(type.toLowerCase())
    if (!plugin) throw new Error(`no plugin is registered for ${type}`)
    const former = bindings.get(name)
    if (former && makers.get(former) === plugin) return former.update(definition)
    // New, or its type is now another vendor's.
    const binding = create(name, plugin)
    makers.set(binding, plugin)
    bindings.set(name, binding)
    const init = binding.init(definition, { subscription: 'background' })
    const [opened] = await Promise.allSettled([init, former?.close()])
    if (opened.status === 'fulfilled') return
    bindings.delete(name)
    throw opened.reason
  }

  /** A component that says `ignoreErrors` may be missing: the others go on. */
  async function openUnlessIgnored(definition: Component): Promise<void> {
    try {
      await open(definition)
    } catch (error) {
      if (!definition.ignoreErrors) throw error
      console.error(`${definition.name} is left out`, error)
    }
  }

  async function load(): Promise<void> {
    // What no plugin answers to is left out, whatever it refers to. A fault rejects before anything is changed.
    const definitions = await loadComponents(components, { ...options, types: [...byType.keys()], logger: console })
    const gone = [...bindings].filter(([name]) => !definitions.some((definition) => definition.name === name))
    for (const [name] of gone) bindings.delete(name)
    // At once: a component may take over the port that another one leaves.
    const outcomes = await Promise.allSettled([
      ...definitions.map(openUnlessIgnored),
      ...gone.map(([, binding]) => binding.close()),
    ])
    const failures = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []))
    if (failures.length > 0) throw new AggregateError(failures, failures.map(String).join('\n'))
  }

  async function close(): Promise<void> {
    const all = [...bindings.values()]
    // A handler of one component may publish through another: the input sides of all end first.
    await Promise.all(all.map((binding) => binding.close({ sides: ['input'] })))
    await Promise.all(all.map((binding) => binding.close()))
  }

  let turn = Promise.resolve()
  function reload(): Promise<void> {
    // One after the other: a second call finds what the first has opened.
    turn = turn.catch(() => {}).then(load)
    return turn
  }

  try {
    await reload()
  } catch (error) {
    await close()
    throw error
  }
  return {
    bindings,
    reload,
    metrics: metrics.text,
    async invoke(name, operation, data) {
      const binding = bindings.get(name)
      if (!binding) throw new Error(`there is no component ${name}`)
      const { metadata } = await metrics.time(name, operation, () => binding.invoke(operation, data))
      return { ...metadata }
    },
    close,
  }
}
