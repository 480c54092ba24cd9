import type { Endpoints } from '../core/endpoints.ts'
import { BindingError } from '../core/errors.ts'
import type { Logger } from '../core/logger.ts'
import type { Side as SideName } from '../metadata/fields.ts'
import { createInstance, type Instance } from './instance.ts'
import type { Metrics } from './metrics.ts'

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
  /** The component of that name, made where there is none yet. Throws OVERLOADED where there are too many, CLOSED for a new one once this closes. */
  obtain(name: string): Instance
  /** The component of that name, if there is one. */
  find(name: string): Instance | undefined
  all(): Iterable<Instance>
  /** Drains the input sides, then the output sides: who handles an event may publish meanwhile. */
  close(): Promise<void>
}

/** More components than a sidecar ever has; a name is all it takes to make one. */
const most = 1_000

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

  return {
    obtain(name) {
      const found = instances.get(name)
      if (found) return found
      if (closing) {
        // Nobody would close what its sides open.
        throw new BindingError('CLOSED', { what: 'the process is ending', fix: 'call it once it runs again' })
      }
      if (instances.size >= most) {
        throw new BindingError('OVERLOADED', { what: `${most} components are served`, fix: 'restart this process' })
      }
      const instance = createInstance({ name, logger: loggerOf(name), metrics, endpoints, readWarningMs, freePort })
      instances.set(name, instance)
      return instance
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
