/** Starts, changes and closes the components of `run` as their files change, and tells how the last reload ended. */
import { shownMessage } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import type { Loaded, LoadedComponent } from '../../metadata/load/load-files.ts'
import { messageOf } from '../../support/process/error-code.ts'
import { createTurns } from '../../support/work/work.ts'
import type { ConfigState } from '../shared/health-and-metrics-server.ts'
import { createComponent, type OpenOptions, type RunningComponent, untakenEvents } from './running-component.ts'

export interface ComponentSetOptions extends Omit<OpenOptions, 'logger'> {
  readonly loggerOf: (component: string) => Logger
}

export class ComponentSet {
  readonly #options: ComponentSetOptions
  readonly #running = new Map<string, RunningComponent>()
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
    return this.#running.get(name)
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

  /** @throws why it failed, unless the component may fail */
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
    await drain(this.#all())
    // A change under way opens at most one more component.
    await this.#inTurn(async () => {})
    const all = this.#all()
    await drain(all)
    await this.#close(all)
  }

  #all(): RunningComponent[] {
    return [...this.#running.values()]
  }

  /** Starts a new component: its output side takes calls. */
  async #openOutput(loaded: LoadedComponent): Promise<void> {
    const { loggerOf, ...options } = this.#options
    const { name } = loaded.component
    const component = createComponent(loaded, { ...options, logger: loggerOf(name) })
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
    const { name, type, version, sides } = loaded.component
    const logger = loggerOf(name)
    const component = this.#running.get(name)
    // Its output side could not be opened.
    if (!component) return
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

  /** Gives why it failed, as a text; nothing where it succeeded, or may fail. */
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
      logger.error(why)
      logger.warn(`${otherwise} until its file changes`)
      return [`component ${name}: ${why}`]
    }
  }

  async #changeTo(components: Loaded['components']): Promise<readonly string[]> {
    const added = [...components.values()].filter(({ component }) => !this.#running.has(component.name))
    const stale = this.#all().filter(
      ({ isOpen, loaded: { component, fingerprint } }) =>
        !isOpen || components.get(component.name)?.fingerprint !== fingerprint,
    )
    const removed = stale.filter(({ loaded }) => !components.has(loaded.component.name))
    const changed = stale.flatMap(({ loaded }) => components.get(loaded.component.name) ?? [])
    // As at the start: every output opens before an input does.
    const failed = await this.#addEach(added, (one) => this.#openOutput(one))
    // All at once, as one may take over the port of another.
    const updates = changed.map((one) => this.#orTell(one, 'its previous version goes on', () => this.#open(one)))
    const outcomes = await Promise.allSettled([drain(removed), ...updates])
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
    for (const component of removed) {
      if (this.#closing) return []
      const { name } = component.loaded.component
      await this.#close([component])
      this.#options.loggerOf(name).info('removed')
      this.#options.metrics.forget(name)
    }
    failed.push(...(await Promise.all(updates)).flat())
    failed.push(...(await this.#addEach(added, (one) => this.#open(one))))
    return failed
  }

  async #addEach(added: readonly LoadedComponent[], open: (one: LoadedComponent) => Promise<void>): Promise<string[]> {
    const failed: string[] = []
    for (const one of added) {
      if (!this.#closing) failed.push(...(await this.#orTell(one, 'it is left out', () => open(one))))
    }
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

/**
 * A reload is whole or not: a fault in any file keeps all that runs, and log, health and metrics tell of it.
 *
 * @param options.load reads what changed sources hold
 */
export function createReload<Sources>(options: {
  readonly running: ComponentSet
  readonly load: (sources: Sources) => Loaded
  readonly logger: Logger
}) {
  const { running, load, logger } = options
  let active: Loaded | undefined
  let lastSuccess = new Date()
  let faults: readonly string[] = []

  async function changeTo(next: Loaded): Promise<void> {
    for (const note of next.notes) if (!active?.notes.includes(note)) logger.warn(note)
    // A program that writes a file may empty it long before the file is whole: what was right before is no warning now.
    const emptied = next.mistakes.filter((mistake) => !active?.mistakes.includes(mistake))
    const found = [...next.faults, ...emptied]
    for (const fault of found) logger.error(fault)
    if (found.length > 0) {
      faults = found
      const start = next.faults.length > 0 ? '. A start would end with 2 now' : ''
      logger.warn(`nothing is changed: all components go on as before until every file is right${start}`)
      return
    }
    active = next
    faults = await running.change(next)
    if (faults.length === 0) lastSuccess = new Date()
  }

  return {
    /** Starts the first components. Rejects where one can't be started. */
    async start(loaded: Loaded): Promise<void> {
      active = loaded
      await running.start(loaded)
      lastSuccess = new Date()
    },
    /** Takes over sources that have changed. Never rejects. */
    async changed(sources: Sources): Promise<void> {
      const had = faults.length > 0
      try {
        await changeTo(load(sources))
        if (had && faults.length === 0) logger.info('every component file is valid again')
      } catch (error) {
        faults = [`the components could not be read again: ${messageOf(error)}`]
        for (const fault of faults) logger.error(fault)
      }
    },
    state: (): ConfigState => ({ successful: faults.length === 0, lastSuccess, faults, leftOut: running.leftOut() }),
  }
}
