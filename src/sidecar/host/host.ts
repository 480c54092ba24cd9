// Components of `run` opened, replaced and closed on change; fallback to the previous version.
import type { Endpoints } from '../../core/endpoints.ts'
import { BindingError } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import { Secret } from '../../core/secret.ts'
import type { LoadedComponent } from '../../metadata/folder/judge-file.ts'
import type { Loaded } from '../../metadata/folder/load-components.ts'
import { oneLine } from '../../support/text/text.ts'
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

  /** Opens a component that does not run, or anew one that does. */
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
  function neighbour({ metadata: { input } }: LoadedComponent, error: unknown): string {
    if (!(error instanceof BindingError) || error.code !== 'PORT_UNAVAILABLE') return ''
    const other = [...running.values()].find((component) => component.port() === input?.handshakePort)
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

  async function openOrGoBack(loaded: LoadedComponent): Promise<void> {
    const { name } = loaded.component
    const logger = loggerOf(name)
    const logFailure = (one: LoadedComponent, error: unknown) =>
      logger.error(`${messageOf(error)}${neighbour(one, error)}`)
    const before = running.get(name)
    try {
      return await open(loaded)
    } catch (error) {
      logFailure(loaded, error)
    }
    if (before) {
      try {
        logger.warn('the previous version runs again, until its file changes')
        return await open(before.loaded)
      } catch (error) {
        logFailure(before.loaded, error)
      }
      await close(before)
    }
    logger.warn('it is left out until its file changes')
  }

  async function changeTo(components: Loaded['components']): Promise<void> {
    const stale = [...running.values()].filter(
      ({ loaded: { component, fingerprint } }) => components.get(component.name)?.fingerprint !== fingerprint,
    )
    const ending: RunningComponent[] = []
    for (const component of stale) {
      const { loaded } = component
      const after = components.get(loaded.component.name)
      const goesOn = after !== undefined && component.keepsInput(after)
      if (!goesOn) ending.push(component)
      const what = goesOn ? 'its output side' : 'it'
      if (after) loggerOf(loaded.component.name).info(`${whatChanged(loaded, after)} changed: ${what} starts anew`)
    }
    await drain(ending)
    await replace(stale, components)
  }

  /** All inputs that change are closed before, so that one can take over the port of another. */
  async function replace(stale: readonly RunningComponent[], components: Loaded['components']): Promise<void> {
    if (closing) return
    for (const component of stale) {
      const { name } = component.loaded.component
      if (components.has(name)) continue
      await close(component)
      loggerOf(name).info('removed')
      metrics.forget(name)
    }
    for (const [name, loaded] of components) {
      if (closing) return
      const component = running.get(name)
      if (!component || stale.includes(component)) await openOrGoBack(loaded)
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
     * Opens, closes and replaces components until the loaded ones run. Where one can't be opened, that is logged and its
     * previous version is opened again. One change at a time.
     */
    change: ({ components }: Loaded) => inTurn(() => changeTo(components)),
    /** Starts all components anew, at other endpoints. */
    moveTo: (next: Endpoints) =>
      inTurn(async () => {
        endpoints = next
        const all = [...running.values()]
        for (const component of all) component.moveTo(next)
        await drain(all)
        await replace(all, new Map(all.map(({ loaded }) => [loaded.component.name, loaded])))
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

/** Names the fields whose values differ. Their values may be secrets, and stay unsaid. */
function whatChanged({ component: before }: LoadedComponent, { component: after }: LoadedComponent): string {
  const names = new Set([...Object.keys(before.properties), ...Object.keys(after.properties)])
  const fields = [...names].filter((name) => plain(before.properties[name]) !== plain(after.properties[name])).sort()
  return fields.length > 0 ? oneLine(fields.join(', '), maxNamed) : 'its type or version'
}

const plain = (value: unknown) => JSON.stringify(value instanceof Secret ? value.reveal() : value)

/** Longest list of changed fields in the log, in characters. */
const maxNamed = 300

const compare = (a: string, b: string) => (a < b ? -1 : 1)
const messageOf = (error: unknown) => (error instanceof BindingError ? error.message : 'an unexpected error')
