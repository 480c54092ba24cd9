/** Starts, changes and closes the components of `run` as their files change. */
import { shownMessage } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import type { Loaded, LoadedComponent } from '../../metadata/load/load-files.ts'
import { messageOf } from '../../support/process/error-code.ts'
import { systemClock, within } from '../../support/time/clock.ts'
import { createTurns } from '../../support/work/work.ts'
import { createComponent, type OpenOptions, type RunningComponent, untakenEvents } from './running-component.ts'

export interface ComponentSetOptions extends Omit<OpenOptions, 'logger'> {
  readonly loggerOf: (component: string) => Logger
}

/** Longest wait for a removed component that is not told of, in milliseconds. */
const patienceMs = 1_000

/** The end of a removed component. */
interface Leaving {
  /** Resolves when its own events are handled, and its port is free. */
  readonly drained: Promise<void>
  /** Resolves when the events of all removed components are handled, and the components are closed. */
  readonly ended: Promise<void>
}

export class ComponentSet {
  readonly #options: ComponentSetOptions
  readonly #running = new Map<string, RunningComponent>()
  /** Removed components that have not ended. A handler may still publish by its component. */
  readonly #leaving = new Map<RunningComponent, Leaving>()
  #leftOut = new Map<string, string>()
  readonly #inTurn = createTurns()
  #appUp = false
  #closing = false

  constructor(options: ComponentSetOptions) {
    this.#options = options
  }

  /** By name, in the order of their names. */
  components(): readonly RunningComponent[] {
    return this.#all().sort((a, b) => (a.loaded.component.name < b.loaded.component.name ? -1 : 1))
  }

  find(name: string): RunningComponent | undefined {
    return this.#running.get(name) ?? [...this.#leaving.keys()].find(({ loaded }) => loaded.component.name === name)
  }

  /** The components that say `ignoreErrors` and failed, by name: why they do not run. */
  leftOut(): Readonly<Record<string, string>> {
    return Object.fromEntries(this.#leftOut)
  }

  async start(loaded: Loaded): Promise<void> {
    this.#leaveOut(loaded.leftOut)
    const components = [...loaded.components.values()]
    // A handler of one component may publish through another: every output opens before an input does.
    for (const one of components) await this.#orEnd(one, () => this.#openOutput(one))
    for (const one of components) await this.#orEnd(one, () => this.#open(one))
  }

  /** @throws why the component failed, unless it may fail */
  async #orEnd({ component: { name, ignoreErrors } }: LoadedComponent, work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      if (ignoreErrors) return this.#leaveOut([[name, shownMessage(error)]])
      this.#options.loggerOf(name).error('could not be started')
      throw error
    }
  }

  /**
   * Starts, changes and closes components until the loaded ones run. Where one can't be opened, that is logged, and its previous version
   * goes on. One change at a time. Resolves with what failed, a text each.
   */
  change({ components, leftOut }: Loaded): Promise<readonly string[]> {
    return this.#inTurn(() => {
      this.#leftOut.clear()
      this.#leaveOut(leftOut)
      return this.#changeTo(components)
    })
  }

  appIsUp(up: boolean): void {
    this.#appUp = up
    for (const component of this.#all()) component.appIsUp(up)
  }

  /** Drains all components at once, and ends a change under way. */
  async close(): Promise<void> {
    this.#closing = true
    await Promise.all([drain(this.#all()), ...this.#ends()])
    // A change under way opens at most one more component.
    await this.#inTurn(async () => {})
    const all = this.#all()
    await drain(all)
    await Promise.all([this.#close(all), ...this.#ends()])
  }

  #all(): RunningComponent[] {
    return [...this.#running.values()]
  }

  #ends(): Promise<void>[] {
    return [...this.#leaving.values()].map(({ ended }) => ended)
  }

  /** Drains removed components, then closes them. The others go on meanwhile: a handler may take an hour. */
  #leave(removed: readonly RunningComponent[]): void {
    const drains = removed.map((component) => [component, component.drain()] as const)
    // The output of a removed component is closed when no handler may publish through it any more.
    const allDrained = Promise.all(drains.map(([, drained]) => drained))
    for (const [component, drained] of drains) {
      const { name } = component.loaded.component
      const { metrics, loggerOf } = this.#options
      const logger = loggerOf(name)
      const end = async () => {
        await allDrained
        await component.close()
        metrics.forget(name)
        logger.info('removed')
      }
      const ended = end()
        .catch((error: unknown) => logger.error(`could not be closed: ${messageOf(error)}`))
        .finally(() => this.#leaving.delete(component))
      this.#running.delete(name)
      this.#leaving.set(component, { drained, ended })
    }
  }

  /** Waits until the removed components that hold a name or a port are drained, or ended. */
  async #until(what: keyof Leaving, isHeldBy: (removed: RunningComponent) => boolean, logger: Logger): Promise<void> {
    for (const [removed, { [what]: freed }] of this.#leaving) {
      if (!isHeldBy(removed)) continue
      const holder = `the removed component ${removed.loaded.component.name}`
      if (!(await within(systemClock, patienceMs, freed)))
        logger.warn(`waits for the events under way of ${holder}; no other change is taken over until then`)
      await freed
    }
  }

  /** Starts a new component: its output side takes calls. */
  async #openOutput(loaded: LoadedComponent): Promise<void> {
    const { loggerOf, ...options } = this.#options
    const { name } = loaded.component
    const logger = loggerOf(name)
    await this.#until('ended', (removed) => removed.loaded.component.name === name, logger)
    const component = createComponent(loaded, { ...options, logger })
    try {
      await component.openOutput()
    } catch (error) {
      options.metrics.forget(name)
      throw error
    }
    this.#running.set(name, component)
  }

  /** Opens the rest of a new component, or changes one. A new one is closed where that fails. */
  async #open(loaded: LoadedComponent): Promise<void> {
    const { loggerOf, channel, metrics } = this.#options
    const { name, type, version, sides, port } = loaded.component
    const logger = loggerOf(name)
    if (port !== undefined) await this.#until('drained', (removed) => removed.port() === port, logger)
    const component = this.#running.get(name)
    // Its output side could not be opened.
    if (!component || this.#closing) return
    try {
      await component.open(loaded)
    } catch (error) {
      if (!component.isOpen) {
        await this.#close([component])
        metrics.forget(name)
      }
      throw error
    }
    logger.info(`${type} ${version}: ${sides.join(' and ')}`)
    if (sides.includes('input') && !channel) logger.warn(`there is no --app-port: ${untakenEvents(loaded)}`)
    component.appIsUp(this.#appUp)
  }

  #leaveOut(components: Iterable<readonly [name: string, why: string]>): void {
    for (const [name, why] of components) {
      this.#leftOut.set(name, why)
      this.#options.loggerOf(name).error(`left out, as it says ignoreErrors: ${why}`)
    }
  }

  /** Gives why the component failed, as a text; nothing where it succeeded, or may fail. */
  async #orTell(loaded: LoadedComponent, otherwise: string, work: () => Promise<void>): Promise<readonly string[]> {
    const { name, ignoreErrors } = loaded.component
    const logger = this.#options.loggerOf(name)
    try {
      await work()
      return []
    } catch (error) {
      if (this.#closing) return []
      const why = shownMessage(error)
      if (ignoreErrors && !this.#running.has(name)) {
        this.#leaveOut([[name, why]])
        return []
      }
      const isClosed = this.#running.get(name)?.health().input?.cause === 'closed'
      logger.error(why)
      logger.warn(`${isClosed ? 'it takes no events' : otherwise} until a file changes`)
      return [`component ${name}: ${why}`]
    }
  }

  async #changeTo(components: Loaded['components']): Promise<readonly string[]> {
    const added = [...components.values()].filter(({ component }) => !this.#running.has(component.name))
    const stale = this.#all().filter(
      ({ isSettled, loaded: { component, fingerprint } }) =>
        !isSettled || components.get(component.name)?.fingerprint !== fingerprint,
    )
    const removed = stale.filter(({ loaded }) => !components.has(loaded.component.name))
    const changed = stale.flatMap(({ loaded }) => components.get(loaded.component.name) ?? [])
    this.#leave(removed)
    // As at the start: every output opens before an input does.
    const failed: string[] = []
    for (const one of added) {
      if (!this.#closing) failed.push(...(await this.#orTell(one, 'it is left out', () => this.#openOutput(one))))
    }
    // All at once, as one may take over the port of another.
    const updates = changed.map((one) => this.#orTell(one, 'its previous version goes on', () => this.#open(one)))
    failed.push(...(await Promise.all(updates)).flat())
    const additions = added.map((one) => this.#orTell(one, 'it is left out', () => this.#open(one)))
    failed.push(...(await Promise.all(additions)).flat())
    return failed
  }

  async #close(components: readonly RunningComponent[]): Promise<void> {
    for (const { loaded } of components) this.#running.delete(loaded.component.name)
    await Promise.all(components.map((component) => component.close()))
  }
}

/** Drains all inputs before any output is closed: an application may publish while it handles an event. */
async function drain(components: readonly RunningComponent[]): Promise<void> {
  await Promise.all(components.map((component) => component.drain()))
}
