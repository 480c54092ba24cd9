import {
  type BindingComponent,
  type Component,
  type ComponentDescriptor,
  isBindingError,
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
  /** So many faults of files and components are told and left out at the start; the others run. One more ends it. @default 0 */
  readonly errorBudget?: number
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
  /** Lets a load that is under way end, and begins none after it; then ends the inputs of all, then the rest. */
  close(): Promise<void>
}

/** Loads every component, forwards its events to the application, and offers its operations. */
export async function startHost({
  app,
  plugins,
  components,
  load: options,
  errorBudget = 0,
}: HostOptions): Promise<Host> {
  const byType = new Map(plugins.flatMap((plugin) => plugin.types.map((type) => [type.toLowerCase(), plugin] as const)))
  const bindings = new Map<string, BindingComponent>()
  const makers = new WeakMap<BindingComponent, ComponentDescriptor>()
  const metrics = createMetrics(bindings)

  const create = (name: string, plugin: ComponentDescriptor): BindingComponent =>
    plugin.create({
      logger: console,
      // The application's answer decides: 2xx acknowledges, anything else has the event redelivered.
      onEvent: ({ data, contentType, signal }) =>
        metrics.event(name, async () => {
          const headers = { 'content-type': contentType }
          const answer = await fetch(`${app}/${name}`, { method: 'POST', headers, body: data, signal })
          if (!answer.ok) throw new Error(`the application answered ${answer.status}`)
        }),
    })

  /** The component's binding; a new one with its output side open. @param leaving gets a former one, of another vendor */
  async function openOutput(definition: Component, leaving: BindingComponent[]): Promise<BindingComponent> {
    const { name, type } = definition
    const plugin = byType.get(type.toLowerCase())
    if (!plugin) throw new Error(`no plugin is registered for ${type}`)
    const former = bindings.get(name)
    if (former && makers.get(former) === plugin) return former
    const binding = create(name, plugin)
    await binding.init(definition, { sides: ['output'], subscription: 'background' })
    if (former) leaving.push(former)
    makers.set(binding, plugin)
    bindings.set(name, binding)
    metrics.began(name)
    return binding
  }

  /** Opens the input side of a new binding; gives another one its changed metadata. A binding that was never open is closed again. */
  async function openInput(definition: Component, binding: BindingComponent, isNew: boolean): Promise<void> {
    try {
      await binding.update(definition)
    } catch (error) {
      if (isNew) {
        bindings.delete(definition.name)
        await binding.close()
      }
      throw error
    }
  }

  /** The components of the files. @param told gets each fault that does not stop the load */
  async function read(told: unknown[] | undefined): Promise<readonly Component[]> {
    try {
      // What no plugin answers to is left out, whatever it refers to.
      return await loadComponents(components, { ...options, types: [...byType.keys()], logger: console })
    } catch (error) {
      if (!told || !isBindingError(error) || error.code !== 'METADATA_INVALID') throw error
      for (const { at, field = 'component', rule, fix } of error.issues)
        told.push(`${at?.file}:${at?.line}:${at?.column}: ${field} ${rule}${fix ? `; ${fix}` : ''}`)
      return error.details.components ?? []
    }
  }

  /** @param budget faults that are told and left out, at the start. A reload is whole or not: a fault in a file changes nothing */
  async function load(budget?: number): Promise<void> {
    const told: unknown[] = []
    const definitions = await read(budget ? told : undefined)
    const known = new Set(bindings.values())
    const leaving = [...bindings].flatMap(([name, binding]) => {
      if (definitions.some((definition) => definition.name === name)) return []
      bindings.delete(name)
      return binding
    })
    const failed = ({ name, ignoreErrors }: Component, error: unknown) => {
      if (ignoreErrors) console.error(`${name} is left out`, error)
      else told.push(error)
    }
    // A handler may publish through another component: every output opens before an input does.
    const open: { definition: Component; binding: BindingComponent }[] = []
    await Promise.all(
      definitions.map((definition) =>
        openOutput(definition, leaving).then(
          (binding) => open.push({ definition, binding }),
          (error) => failed(definition, error),
        ),
      ),
    )
    // At once: a component may take over the port that another one leaves.
    await Promise.all([
      ...open.map(({ definition, binding }) =>
        openInput(definition, binding, !known.has(binding)).catch((error) => failed(definition, error)),
      ),
      ...leaving.map((binding) => binding.close().catch((error) => told.push(error))),
    ])
    if (told.length > (budget ?? 0)) throw new AggregateError(told, told.map(String).join('\n'))
    for (const fault of told) console.error(fault)
  }

  let turn = Promise.resolve()
  let isClosing = false
  /** One load after the other: a second call finds what the first has opened. None begins after `close`. */
  function inTurn(work: () => Promise<void>): Promise<void> {
    turn = turn
      .catch(() => {})
      .then(() => {
        if (isClosing) throw new Error('the host is closed')
        return work()
      })
    return turn
  }

  async function close(): Promise<void> {
    isClosing = true
    // A load that is under way would open again what has ended.
    await turn.catch(() => {})
    const all = [...bindings.values()]
    // A handler of one component may publish through another: the input sides of all end first.
    await Promise.all(all.map((binding) => binding.close({ sides: ['input'] })))
    await Promise.all(all.map((binding) => binding.close()))
  }

  try {
    await inTurn(() => load(errorBudget))
  } catch (error) {
    await close()
    throw error
  }
  return {
    bindings,
    reload: () => inTurn(load),
    metrics: metrics.text,
    async invoke(name, operation, data) {
      const binding = bindings.get(name)
      if (!binding) throw new Error(`there is no component ${name}`)
      const { metadata } = await metrics.invoke(name, () => binding.invoke(operation, data))
      return { ...metadata }
    },
    close,
  }
}
