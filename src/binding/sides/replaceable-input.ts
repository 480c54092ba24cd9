/** The input side of a component: one that is replaced hands its port to the next, and its handlers go on. */
import { emulatorRemedy, strayEmulatorId } from '../../core/endpoints.ts'
import type { EventHandler } from '../../core/event.ts'
import type { FastifyHook } from '../../listener/http/host-plugins.ts'
import { keepPort, leavePort } from '../../listener/http/port-handover.ts'
import { isSameMetadata } from '../../metadata/typed/same-metadata.ts'
import { messageOf } from '../../support/process/error-code.ts'
import { inBackground } from '../../support/work/in-background.ts'
import type { ListenAddress } from '../binding-component.ts'
import type { InputHealth } from '../health.ts'
import { locateError } from '../locate-failure.ts'
import type { SideOptions } from '../side-options.ts'
import type { InputSide } from './input-side.ts'
import { logChange, type OpenedSide, optionsOf, type ParsedComponent } from './opened-side.ts'

/** A change that is under way. */
interface Change {
  readonly subscription: 'wait' | 'background'
  /** The caller's signal, or `closed`. */
  readonly signal: AbortSignal
  /** Aborts when a side is closed. */
  readonly closed: AbortSignal
}

interface OpenedInput extends OpenedSide<InputSide> {
  /** It closes, or has closed. */
  ending?: Promise<void>
  hasEnded?: boolean
}

/** How an input side is opened. */
interface Opening extends Pick<Change, 'subscription' | 'signal'> {
  /** Port of the side before: takes the place of a `handshakePort` of 0. */
  readonly port: number | undefined
  /** Called each time that nothing but the port is missing; what it throws ends the opening. */
  readonly release: () => void
}

export class ReplaceableInput {
  readonly #shared: () => SideOptions
  readonly #fastify: FastifyHook | undefined
  readonly #portOwner = Symbol('a component')
  #handler: EventHandler | undefined
  #current: OpenedInput | undefined
  /** Aborts when the input side is closed, not replaced. */
  #closing = new AbortController()
  /** Replaced ones whose handlers go on. */
  readonly #draining = new Set<OpenedInput>()

  constructor(shared: () => SideOptions, fastify: FastifyHook | undefined) {
    this.#shared = shared
    this.#fastify = fastify
  }

  component(): ParsedComponent | undefined {
    return this.#current?.of.component
  }

  address(): ListenAddress | undefined {
    return this.#current?.hasEnded ? undefined : this.#current?.side.address()
  }

  health(): InputHealth | undefined {
    return this.#current?.side.health()
  }

  /** Whether a handler runs. Until it returns it may publish, also while its side opens or closes. */
  isHandling(): boolean {
    return [this.#current, ...this.#draining].some((one) => one?.side.isHandling())
  }

  read(handler: EventHandler | undefined): void {
    this.#handler = handler
    this.#current?.side.handlerChanged()
  }

  /**
   * Opens an input side in the place of the one there is. What can fail without the port is done before that one stops. Where the new one
   * can't be opened, the former one is opened again. One with the same metadata goes on.
   */
  async replace(component: ParsedComponent, { subscription, signal, closed }: Change): Promise<void> {
    const { logger } = this.#shared()
    let former = this.#current
    if (this.#keeps(component)) {
      if (former) former.of.component = component
      return
    }
    if (former) logChange('input', former.of.component, component, logger)
    const port = former?.side.address()?.port
    const wanted = component.metadata.input?.handshakePort
    const isSamePort = port !== undefined && [port, former?.of.component.metadata.input?.handshakePort].includes(wanted)
    const formerPort = this.address()?.port
    const hasLeft = leavePort(formerPort)
    const endKeeping = keepPort(isSamePort ? formerPort : undefined, this.#portOwner)
    let isReleased = false
    const release = () => {
      signal.throwIfAborted()
      if (!former || isReleased) return
      isReleased = true
      inBackground(this.#retire(former).finally(hasLeft), () =>
        logger.error('the former input side could not be closed'),
      )
    }
    try {
      await this.#open(component, { subscription, signal, port, release })
    } catch (error) {
      if (former && isReleased && !closed.aborted) await this.#reopen(former.of.component, port, closed)
      throw error
    } finally {
      endKeeping()
      if (!isReleased) hasLeft()
      // The new side keeps `release`: each side would keep all those before it.
      former = undefined
    }
  }

  #keeps({ metadata: { input, pull } }: ParsedComponent): boolean {
    const before = this.component()?.metadata
    return !this.#current?.ending && isSameMetadata([before?.input, before?.pull], [input, pull])
  }

  /** Until it is open, or another update is, health says that there is no listener. */
  async #reopen(component: ParsedComponent, port: number | undefined, signal: AbortSignal): Promise<void> {
    const { logger } = this.#shared()
    try {
      await this.#open(component, { subscription: 'background', signal, port, release: () => signal.throwIfAborted() })
      logger.warn('the former input side runs again')
    } catch (error) {
      logger.error(`the former input side could not be opened again: ${messageOf(error)}`)
    }
  }

  /** Opens and starts an input side. Where that fails, the former one is in its place, open or not. */
  async #open(component: ParsedComponent, how: Opening): Promise<void> {
    const former = this.#current
    try {
      this.#current = await this.#create(component, how)
      how.release()
      await this.#current?.side.start(how.subscription, how.signal, former?.side.endUpkeep())
      how.signal.throwIfAborted()
    } catch (error) {
      if (this.#current && this.#current !== former) await this.#retire(this.#current)
      this.#current = former
      throw locateError(error, component.source, 'input')
    }
  }

  /** Makes an input side that is not started yet; `undefined` where the metadata configure none. */
  // Each comes with libraries of its own, which take time and memory: only those of the configured one are loaded.
  async #create(component: ParsedComponent, { port, release }: Opening): Promise<OpenedInput | undefined> {
    const { input: push, pull } = component.metadata
    this.#warnOfStrayId(component)
    const of = { component }
    const options = { ...optionsOf('input', of, this.#shared()), handler: () => this.#handler }
    if (push) {
      const { createInputSide } = await import('./input-side.ts')
      const at = { ...push, handshakePort: push.handshakePort || (port ?? 0) }
      const [fastify, portOwner] = [this.#fastify, this.#portOwner]
      return { side: await createInputSide(at, { ...options, fastify, beforeListening: release, portOwner }), of }
    }
    if (!pull) return undefined
    const { createPullSide } = await import('./pull-side.ts')
    return { side: await createPullSide(pull, options), of }
  }

  #warnOfStrayId({ name, metadata: { input: push } }: ParsedComponent): void {
    const { endpoints, logger } = this.#shared()
    const id = strayEmulatorId({ ...push, ...push?.credential }, endpoints)
    if (id === undefined) return
    const component = name === undefined ? 'this component' : `component ${JSON.stringify(name)}`
    logger.warn(`${component} has the ${id} of an emulator, and Azure does not know it: ${emulatorRemedy}`)
  }

  /** Accepts no more events. Resolves when the handlers under way have ended. */
  #retire(one: OpenedInput): Promise<void> {
    if (one.ending) return one.ending
    this.#draining.add(one)
    one.ending = one.side.close(this.#closing.signal).finally(() => {
      one.hasEnded = true
      this.#draining.delete(one)
    })
    return one.ending
  }

  /** Takes no new event, and waits for the handlers under way, also those of replaced sides. */
  async close(): Promise<void> {
    const before = this.#current
    this.#current = undefined
    if (before) this.#retire(before).catch(() => {})
    this.#closing.abort()
    this.#closing = new AbortController()
    await Promise.all([...this.#draining, before].map((one) => one?.ending))
  }
}
