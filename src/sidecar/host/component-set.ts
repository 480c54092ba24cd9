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
    for (const one of loaded.components.values()) {
      try {
        await this.#open(one)
      } catch (error) {
        if (one.component.ignoreErrors) {
          this.#leaveOut([[one.component.name, shownMessage(error)]])
          continue
        }
        const logger = this.#options.loggerOf(one.component.name)
        logger.error('could not be started')
        throw error
      }
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

  async #open(loaded: LoadedComponent): Promise<void> {
    const { loggerOf, ...options } = this.#options
    const { name, type, version, sides } = loaded.component
    const logger = loggerOf(name)
    const running = this.#running.get(name)
    const component = running ?? createComponent(loaded, { ...options, logger })
    try {
      await component.open(loaded)
    } catch (error) {
      if (!running) options.metrics.forget(name)
      throw error
    }
    this.#running.set(name, component)
    logger.info(`${type} ${version}: ${sides.join(' and ')}`)
    if (sides.includes('input') && !options.channel) logger.warn(`there is no --app-port: ${untakenEvents(loaded)}`)
    component.appIsUp(this.#appUp)
  }

  #leaveOut(components: Iterable<readonly [name: string, why: string]>): void {
    for (const [name, why] of components) {
      this.#leftOut.set(name, why)
      this.#options.loggerOf(name).error(`left out, as it says ignoreErrors: ${why}`)
    }
  }

  /** Gives why it failed, as a text; nothing where it is open, or may fail. */
  async #openOrTell(loaded: LoadedComponent, otherwise: string): Promise<readonly string[]> {
    const { name, ignoreErrors } = loaded.component
    const logger = this.#options.loggerOf(name)
    try {
      await this.#open(loaded)
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
    const stale = this.#all().filter(
      ({ loaded: { component, fingerprint } }) => components.get(component.name)?.fingerprint !== fingerprint,
    )
    const removed = stale.filter(({ loaded }) => !components.has(loaded.component.name))
    const changed = stale.flatMap(({ loaded }) => components.get(loaded.component.name) ?? [])
    // All at once, as one may take over the port of another.
    const updates = changed.map((loaded) => this.#openOrTell(loaded, 'its previous version goes on'))
    const outcomes = await Promise.allSettled([drain(removed), ...updates])
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
    for (const component of removed) {
      if (this.#closing) return []
      const { name } = component.loaded.component
      await this.#close([component])
      this.#options.loggerOf(name).info('removed')
      this.#options.metrics.forget(name)
    }
    const failed = (await Promise.all(updates)).flat()
    return [...failed, ...(await this.#startMissing(components.values()))]
  }

  async #startMissing(components: Iterable<LoadedComponent>): Promise<readonly string[]> {
    const failed: string[] = []
    for (const loaded of components) {
      if (this.#closing || this.#running.has(loaded.component.name)) continue
      failed.push(...(await this.#openOrTell(loaded, 'it is left out')))
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
