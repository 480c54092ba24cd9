import type { Metrics } from '../binding/metrics.ts'
import type { Endpoints } from '../core/endpoints.ts'
import { BindingError } from '../core/errors.ts'
import type { Logger } from '../core/logger.ts'
import type { Side as SideName } from '../metadata/fields.ts'
import type { Texts } from './contract.ts'
import { createInstance, type Instance } from './instance.ts'

export interface InstancesOptions {
  /** A logger for the lines of one component. */
  readonly loggerOf: (component: string) => Logger
  readonly metrics: Metrics
  readonly endpoints?: Endpoints | undefined
  /** How long a component without a `Read` is no cause for a warning. @default 60_000 */
  readonly readWarningMs?: number | undefined
}

/** The components that this process serves, by name. */
export interface Instances {
  /**
   * Initialises one side of a component.
   *
   * @throws BindingError of {@link PluggableSide.init}; OVERLOADED when too many components are initialised, CLOSED after `close`
   */
  init(name: string, side: SideName, properties: Texts): Promise<void>
  /**
   * The component of that name; made where there is none. Only initialised components last: of the others the oldest is forgotten
   * when there are too many, so that calls with made-up names take no room from them.
   *
   * @throws BindingError CLOSED after `close`, for a new name
   */
  obtain(name: string): Instance
  /** The component of that name, if there is one. */
  find(name: string): Instance | undefined
  all(): Iterable<Instance>
  /** Drains the input sides, then the output sides: who handles an event may publish meanwhile. */
  close(): Promise<void>
}

/** More components than a sidecar ever has. */
const maxInitialized = 1_000

/** Of components that nobody has initialised: they show in health and metrics which calls fail after a restart of this process. */
const maxUninitialized = 100

const sweepMs = 1_000

export function createInstances(options: InstancesOptions): Instances {
  const { loggerOf, metrics, endpoints, readWarningMs } = options
  const instances = new Map<string, Instance>()
  let closing = false

  // An event that is never answered is rare, so it is enough to look now and then.
  const sweep = setInterval(() => {
    for (const { readers } of instances.values()) readers.sweep()
  }, sweepMs)
  sweep.unref()

  /**
   * Nobody tells us when a component is removed or renamed, so its listener stays. Where another component wants that port and nobody
   * reads from the old one any more, the old one goes.
   */
  async function freePort(port: number, asking: string): Promise<boolean> {
    for (const [name, { input, readers, logger }] of instances) {
      if (name === asking || readers.count > 0 || input.metadata?.input?.handshakePort !== port) continue
      logger.warn('nobody reads from this component, and another one asks for its handshakePort: it gives it up', {
        handshakePort: port,
        for: asking,
      })
      await input.release()
      return true
    }
    return false
  }

  const closeAll = (side: SideName) => Promise.all([...instances.values()].map((instance) => instance[side].close()))

  function obtain(name: string): Instance {
    const found = instances.get(name)
    if (found) return found
    if (closing) {
      // Nobody would close what its sides open.
      throw new BindingError('CLOSED', { what: 'the process is ending', fix: 'call it once it runs again' })
    }
    const uninitialized = [...instances.values()].filter(({ inUse }) => !inUse)
    if (uninitialized[0] && uninitialized.length >= maxUninitialized) forget(uninitialized[0])
    const instance = createInstance({ name, logger: loggerOf(name), metrics, endpoints, readWarningMs, freePort })
    instances.set(name, instance)
    return instance
  }

  function forget(instance: Instance): void {
    instances.delete(instance.name)
    instance.stop()
    metrics.forget(instance.name)
  }

  function refuseTooMany(): void {
    const initialized = [...instances.values()].filter(({ inUse }) => inUse).length
    if (initialized < maxInitialized) return
    const what = `${maxInitialized} components are initialised`
    throw new BindingError('OVERLOADED', { what, fix: 'restart this process' })
  }

  return {
    obtain,
    async init(name, side, properties) {
      const instance = obtain(name)
      if (!instance.inUse) refuseTooMany()
      await instance[side].init(properties)
    },
    find: (name) => instances.get(name),
    all: () => instances.values(),
    async close() {
      closing = true
      for (const { readers } of instances.values()) readers.close()
      await closeAll('input')
      await closeAll('output')
      clearInterval(sweep)
      for (const instance of instances.values()) instance.stop()
    },
  }
}
