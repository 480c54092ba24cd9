/** Starts, changes and closes the components of `run` as their files change. */
import type { Endpoints } from '../../core/endpoints.ts'
import { BindingError, shownMessage } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import type { Loaded } from '../../metadata/folder/load-components.ts'
import type { LoadedComponent } from '../../metadata/folder/take-components.ts'
import { createTurns } from '../../support/work/in-turn.ts'
import { createComponent, type OpenOptions, type RunningComponent, untakenEvents } from './running-component.ts'

export interface HostOptions extends Omit<OpenOptions, 'logger'> {
  readonly loggerOf: (component: string) => Logger
}

export type Host = ReturnType<typeof createHost>

export function createHost({ loggerOf, endpoints: first, ...shared }: HostOptions) {
  const { channel, metrics } = shared
  let endpoints = first
  const running = new Map<string, RunningComponent>()
  let appUp = false
  let closing = false
  const inTurn = createTurns()

  /** Starts a component, or changes one that runs. */
  async function open(loaded: LoadedComponent): Promise<void> {
    const { name, type, version } = loaded.component
    const logger = loggerOf(name)
    const component = running.get(name) ?? createComponent(loaded, { ...shared, logger, endpoints })
    await component.open(loaded)
    running.set(name, component)
    const { input: push, pull, output } = loaded.metadata
    const input = push ?? pull
    logger.info(`${type} ${version}: ${[input && 'input', output && 'output'].filter(Boolean).join(' and ')}`)
    if (input && !channel) logger.warn(`there is no --app-port: ${untakenEvents(loaded)}`)
    component.appIsUp(appUp)
  }

  /** Names the component that already listens on the port, whatever the order of the files. */
  function neighbour({ component: { name }, metadata: { input } }: LoadedComponent, error: unknown): string {
    if (!(error instanceof BindingError) || error.code !== 'PORT_UNAVAILABLE') return ''
    const other = [...running.values()].find(
      (one) => one.loaded.component.name !== name && one.port() === input?.handshakePort,
    )
    return other ? `; component ${JSON.stringify(other.loaded.component.name)} has its handshakePort already` : ''
  }

  /** Drains all inputs before any output is closed: an application may publish while it handles an event. */
  async function drain(components: readonly RunningComponent[]): Promise<void> {
    await Promise.all(components.map((component) => component.drain()))
  }

  async function close(component: RunningComponent): Promise<void> {
    running.delete(component.loaded.component.name)
    await component.close()
  }

  async function openOrTell(loaded: LoadedComponent, otherwise: string): Promise<void> {
    const logger = loggerOf(loaded.component.name)
    try {
      await open(loaded)
    } catch (error) {
      if (closing) return
      logger.error(`${shownMessage(error)}${neighbour(loaded, error)}`)
      logger.warn(`${otherwise} until its file changes`)
    }
  }

  async function changeTo(components: Loaded['components']): Promise<void> {
    const stale = [...running.values()].filter(
      ({ loaded: { component, fingerprint } }) => components.get(component.name)?.fingerprint !== fingerprint,
    )
    const removed = stale.filter(({ loaded }) => !components.has(loaded.component.name))
    const changed = stale.flatMap(({ loaded }) => components.get(loaded.component.name) ?? [])
    // All at once, as one may take over the port of another.
    const updates = changed.map((loaded) => openOrTell(loaded, 'its previous version goes on'))
    const [failed] = (await Promise.allSettled([drain(removed), ...updates])).filter(isRejected)
    if (failed) throw failed.reason
    for (const component of removed) {
      if (closing) return
      const { name } = component.loaded.component
      await close(component)
      loggerOf(name).info('removed')
      metrics.forget(name)
    }
    await startMissing(components.values())
  }

  async function startMissing(components: Iterable<LoadedComponent>): Promise<void> {
    for (const loaded of components) {
      if (closing) return
      if (!running.has(loaded.component.name)) await openOrTell(loaded, 'it is left out')
    }
  }

  return {
    /** By name, in the order of their names. */
    components: () => [...running.values()].sort((a, b) => compare(a.loaded.component.name, b.loaded.component.name)),
    find: (name: string) => running.get(name),
    async start(loaded: Loaded) {
      for (const one of loaded.components.values()) {
        try {
          await open(one)
        } catch (error) {
          loggerOf(one.component.name).error(`could not be started${neighbour(one, error)}`)
          throw error
        }
      }
    },
    /**
     * Starts, changes and closes components until the loaded ones run. Where one can't be opened, that is logged, and its previous version
     * goes on. One change at a time.
     */
    change: ({ components }: Loaded) => inTurn(() => changeTo(components)),
    /** Starts all components anew, at other endpoints. */
    moveTo: (next: Endpoints) =>
      inTurn(async () => {
        endpoints = next
        const all = [...running.values()]
        await drain(all)
        await Promise.all(all.map(close))
        await startMissing(all.map(({ loaded }) => loaded))
      }),
    appIsUp(up: boolean) {
      appUp = up
      for (const component of running.values()) component.appIsUp(up)
    },
    /** Drains all components at once, and ends a change under way. */
    async close() {
      closing = true
      await drain([...running.values()])
      // A change under way opens at most one more component.
      await inTurn(async () => {})
      const all = [...running.values()]
      await drain(all)
      await Promise.all(all.map(close))
    },
  }
}

const isRejected = (result: PromiseSettledResult<void>) => result.status === 'rejected'
const compare = (a: string, b: string) => (a < b ? -1 : 1)
