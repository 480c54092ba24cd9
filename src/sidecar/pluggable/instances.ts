/** All components of daprd by name, how many there may be, and how they end. */

import type { Side } from '../../core/component.ts'
import { BindingError } from '../../core/errors.ts'
import { createQuietLog, type Logger } from '../../core/logger.ts'
import { printable } from '../../support/text/text.ts'
import type { Texts } from './grpc/contract.ts'
import { Instance, type InstanceOptions } from './instance.ts'

export interface InstancesOptions extends Pick<InstanceOptions, 'metrics' | 'endpoints' | 'readWarningMs'> {
  readonly loggerOf: (component?: string) => Logger
  /** Components that may be initialised: more than a sidecar ever has. @default 1_000 */
  readonly maxInitialized?: number
}

/** Of components that nobody has initialised: they show in health and metrics which calls fail after a restart of this process. */
const maxUninitialized = 100

const sweepMs = 1_000

export type Instances = ReturnType<typeof createInstances>

export function createInstances(options: InstancesOptions) {
  const { loggerOf, metrics, endpoints, readWarningMs, maxInitialized = 1_000 } = options
  const instances = new Map<string, Instance>()
  const all = () => [...instances.values()]
  let closing = false
  let wasInitialized = false
  /** A single log for all components: a caller may make up names. */
  const quiet = createQuietLog({ logger: loggerOf() })

  // Events without an acknowledgement are rare, so a check now and then is enough.
  const sweep = setInterval(() => {
    for (const { readers } of instances.values()) readers.sweep()
  }, sweepMs)
  sweep.unref()

  /** daprd does not say when a component is removed or renamed. Its listener stays until another component needs the port. */
  async function freePort(port: number, asking: string): Promise<boolean> {
    for (const [name, instance] of instances) {
      const { current, logger } = instance
      if (name === asking || instance.isRead || current.input?.push?.handshakePort !== port) continue
      logger.warn('the host does not read this component, and another one needs its handshakePort: it is released', {
        handshakePort: port,
        component: asking,
      })
      await instance.releaseInput()
      return true
    }
    return false
  }

  const closeAll = (side: Side) => Promise.all(all().map((instance) => instance.close(side)))

  function obtain(name: string): Instance {
    const found = instances.get(name)
    if (found) return found
    if (closing) {
      // `close` would not close this component.
      throw new BindingError('CLOSED', { what: 'the process is ending', fix: 'call it once it runs again' })
    }
    const uninitialized = all().filter(({ inUse }) => !inUse)
    const [oldest] = uninitialized
    if (oldest && uninitialized.length >= maxUninitialized) {
      instances.delete(oldest.name)
      oldest.stop()
      metrics.forget(oldest.name)
    }
    const instance = new Instance({
      name,
      logger: loggerOf(name),
      metrics,
      endpoints,
      readWarningMs,
      freePort,
      onUninitialized(fix) {
        const component = printable(name)
        quiet.warn(`a component was not initialised in this process; ${fix}`, { component }, component)
      },
    })
    instances.set(name, instance)
    return instance
  }

  return {
    /**
     * Made if it does not exist. Only initialised components last: of the others the oldest is forgotten when there are too many, so that
     * calls with made-up names take no room from them. @throws BindingError CLOSED after `close`, for a new name
     */
    obtain,
    /**
     * Initialises one side of a component.
     *
     * @throws BindingError of the side's `init`; OVERLOADED when too many components are initialised, CLOSED after `close`
     */
    async init(name: string, side: Side, properties: Texts): Promise<void> {
      const instance = obtain(name)
      if (!instance.inUse && all().filter(({ inUse }) => inUse).length >= maxInitialized) {
        const what = `${maxInitialized} components are initialised`
        throw new BindingError('OVERLOADED', { what, fix: 'restart this process' })
      }
      await instance.init(side, properties)
      wasInitialized = true
    },
    /** The runtime has initialised a side of a component, if only one that its metadata leave out. */
    get wasInitialized() {
      return wasInitialized
    },
    find: (name: string) => instances.get(name),
    all,
    /** Drains the input sides, then the output sides: the application may publish while it handles an event. */
    async close() {
      closing = true
      for (const { readers } of instances.values()) readers.close()
      await closeAll('input')
      await closeAll('output')
      clearInterval(sweep)
      for (const instance of instances.values()) instance.stop()
      quiet.close()
    },
  }
}
