import { BindingError } from '../errors.ts'
import type { Logger } from '../logger.ts'
import type { AppChannel } from './app-channel.ts'
import type { Loaded, LoadedComponent } from './load-components.ts'
import { openComponent, type RunningComponent } from './running-component.ts'

/** What {@link createHost} needs. */
export interface HostOptions {
  readonly channel: AppChannel | undefined
  /** The logger of a component. */
  readonly loggerOf: (component: string) => Logger
}

/** The components that run, and how they change. */
export interface Host {
  /** By name, in the order of their names. */
  components(): readonly RunningComponent[]
  find(name: string): RunningComponent | undefined
  /** Opens what is new. Rejects where one can't be opened. */
  start(loaded: Loaded): Promise<void>
  /**
   * Opens, closes and replaces until those run that are loaded. What can't be opened is logged,
   * and what it replaces comes back.
   */
  change(loaded: Loaded): Promise<void>
  appIsUp(up: boolean): void
  /** Drains all components at once. */
  close(): Promise<void>
}

/** Runs components side by side. */
export function createHost({ channel, loggerOf }: HostOptions): Host {
  const running = new Map<string, RunningComponent>()
  let appUp = false

  async function open(loaded: LoadedComponent): Promise<void> {
    const { name, type, version } = loaded.component
    const logger = loggerOf(name)
    const component = await openComponent(loaded, { channel, logger })
    running.set(name, component)
    const { input, output } = loaded.metadata
    logger.info(`${type} ${version}: ${[input && 'input', output && 'output'].filter(Boolean).join(' and ')}`)
    if (input && !channel) logger.warn('there is no --app-port: events are answered 503 and come again')
    component.appIsUp(appUp)
  }

  /** Which component of ours has the port that was taken. The one that listens keeps it, whichever file stands first. */
  function neighbour({ metadata: { input } }: LoadedComponent, error: unknown): string {
    if (!(error instanceof BindingError) || error.code !== 'PORT_UNAVAILABLE') return ''
    const other = [...running.values()].find(
      ({ loaded }) => loaded.metadata.input?.handshakePort === input?.handshakePort,
    )
    return other ? `; component ${JSON.stringify(other.loaded.component.name)} has its handshakePort already` : ''
  }

  async function close(name: string): Promise<void> {
    const component = running.get(name)
    await component?.drain()
    running.delete(name)
    await component?.close()
  }

  async function openOrGoBack(loaded: LoadedComponent, before: LoadedComponent | undefined): Promise<void> {
    const { name } = loaded.component
    try {
      await open(loaded)
    } catch (error) {
      loggerOf(name).error(`${messageOf(error)}${neighbour(loaded, error)}`)
      if (!before) return loggerOf(name).warn('it is left out until its file changes')
      loggerOf(name).warn('going back to what it was before, until its file changes')
      await openOrGoBack(before, undefined)
    }
  }

  return {
    components: () => [...running.values()].sort((a, b) => compare(a.loaded.component.name, b.loaded.component.name)),
    find: (name) => running.get(name),
    async start(loaded) {
      for (const one of loaded.components.values()) {
        try {
          await open(one)
        } catch (error) {
          loggerOf(one.component.name).error(`could not be started${neighbour(one, error)}`)
          throw error
        }
      }
    },
    async change({ components }) {
      const before = new Map([...running].map(([name, { loaded }]) => [name, loaded]))
      const stale = [...before.values()].filter(
        ({ component: { name }, fingerprint }) => components.get(name)?.fingerprint !== fingerprint,
      )
      // All are closed before any is opened, so that one can take over the port of another.
      await Promise.all(stale.map(({ component }) => close(component.name)))
      for (const { component } of stale) {
        if (!components.has(component.name)) loggerOf(component.name).info('removed')
      }
      for (const [name, loaded] of components) {
        if (!running.has(name)) await openOrGoBack(loaded, before.get(name))
      }
    },
    appIsUp(up) {
      appUp = up
      for (const component of running.values()) component.appIsUp(up)
    },
    async close() {
      // An application may publish while it handles an event, so no output ends before all inputs have.
      await Promise.all([...running.values()].map((component) => component.drain()))
      await Promise.all([...running.keys()].map(close))
    },
  }
}

const compare = (a: string, b: string) => (a < b ? -1 : 1)
const messageOf = (error: unknown) => (error instanceof BindingError ? error.message : 'an unexpected error')
