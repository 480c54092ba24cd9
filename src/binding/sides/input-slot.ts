/** The place of the input side: one that opens anew is a new server, or receiver; the former one stops, and drains behind it. */
import type { EventHandler } from '../../core/event.ts'
import type { FastifyHook } from '../../listener/listener.ts'
import { isSameMetadata, type ParsedMetadata, type PushMetadata } from '../../metadata/typed/metadata.ts'
import { messageOf } from '../../support/process/error-code.ts'
import type { ListenAddress } from '../binding-component.ts'
import type { InputHealth } from '../health.ts'
import type { InputSide, SideOptions } from '../side.ts'

/** How an input side is opened. */
interface Opening {
  readonly subscription: 'wait' | 'background'
  readonly signal: AbortSignal
  /** Aborts when the input side is closed: then nothing is opened again. */
  readonly closing: AbortSignal
}

interface OpenedInput {
  readonly side: InputSide
  readonly metadata: ParsedMetadata
  /** It takes nothing new. Resolves when its handlers have ended. Never rejects. */
  ending?: Promise<void>
}

export class InputSlot {
  readonly #shared: () => SideOptions
  readonly #fastify: FastifyHook | undefined
  readonly #handler: { current: EventHandler | undefined } = { current: undefined }
  /** The side that is open, or was open last. */
  #current: OpenedInput | undefined
  /** Those that take nothing new, and whose handlers go on. */
  readonly #draining = new Set<OpenedInput>()
  /** Aborts when the slot is closed: open requests of replaced receivers are to end then. */
  #closing = new AbortController()
  /** The metadata by which deliveries were accepted last. */
  #accepted: readonly PushMetadata[] = []
  /** Whether deliveries were routed to the side before. */
  #wasReady = false

  constructor(shared: () => SideOptions, fastify: FastifyHook | undefined) {
    this.#shared = shared
    this.#fastify = fastify
  }

  address(): ListenAddress | undefined {
    return this.#current?.side.address()
  }

  health(): InputHealth | undefined {
    return this.#current?.side.health()
  }

  /** Whether a handler runs. Until it returns it may publish, also while its side opens or closes. */
  isHandling(): boolean {
    return [this.#current, ...this.#draining].some((one) => one?.side.isHandling())
  }

  read(handler: EventHandler | undefined): void {
    this.#handler.current = handler
    this.#current?.side.handlerChanged()
  }

  /**
   * Opens an input side in the place of the one there is. What can fail without the port is done before that one stops. Where the new one
   * can't be opened, the former metadata are opened again. A side with the same metadata goes on.
   */
  async replace(metadata: ParsedMetadata, opening: Opening): Promise<void> {
    const former = this.#current
    const isOpen = former !== undefined && !former.ending
    if (isOpen && isSameInput(former.metadata, metadata)) return
    const hasInput = metadata.push !== undefined || metadata.pull !== undefined
    if (isOpen) this.#shared().logger.info(`the input side ${hasInput ? 'starts anew' : 'ends'}`)
    const port = former?.side.address()?.port
    this.#wasReady = isOpen && former.side.health().ready
    this.#accepted = former?.side.accepts() ?? this.#accepted
    const next = await this.#make(metadata, port)
    try {
      opening.signal.throwIfAborted()
      former?.side.stop()
      if (former) this.#retire(former, this.#closing.signal)
      await this.#open(next, opening, former)
    } catch (error) {
      next?.side.stop()
      const ended = next && this.#retire(next)
      this.#current = former
      if (isOpen) await this.#reopen(former, port, opening.closing)
      else await ended
      throw error
    }
  }

  /** Until the side is open, or that of another update is, health says that there is no listener. */
  async #reopen(former: OpenedInput, port: number | undefined, closing: AbortSignal): Promise<void> {
    if (!former.ending || closing.aborted) return
    const { logger } = this.#shared()
    try {
      const again = await this.#make(former.metadata, port)
      await this.#open(again, { subscription: 'background', signal: closing, closing }, former)
      logger.warn('the former input side runs again')
    } catch (error) {
      this.#current = former
      logger.error(`the former input side could not be opened again: ${messageOf(error)}`)
    }
  }

  async #open(
    next: OpenedInput | undefined,
    { subscription, signal }: Opening,
    former: OpenedInput | undefined,
  ): Promise<void> {
    await next?.side.listen(signal)
    this.#current = next
    await next?.side.start(subscription, signal, former?.side.endUpkeep())
    signal.throwIfAborted()
  }

  /**
   * Makes an input side that does not listen yet; `undefined` where the metadata configure none.
   *
   * @param port of the side before: takes the place of a `handshakePort` of 0
   */
  // Each comes with libraries of its own, which take time and memory: only those of the configured one are loaded.
  async #make(metadata: ParsedMetadata, port: number | undefined): Promise<OpenedInput | undefined> {
    const { push, pull } = metadata
    const options = { ...this.#shared(), handler: this.#handler, formers: this.#accepted }
    if (push) {
      const { createPushSide } = await import('./push-side.ts')
      const at = { ...push, handshakePort: push.handshakePort || (port ?? 0) }
      const [fastify, wasReady] = [this.#fastify, this.#wasReady]
      return { side: await createPushSide(at, { ...options, fastify, wasReady }), metadata }
    }
    if (!pull) return undefined
    const { createPullSide } = await import('./pull-side.ts')
    return { side: await createPullSide(pull, options), metadata }
  }

  /** Takes nothing new. Resolves when the handlers under way have ended. */
  #retire(one: OpenedInput, hurry?: AbortSignal): Promise<void> {
    this.#draining.add(one)
    one.ending ??= one.side
      .close(hurry)
      .catch((error: unknown) => this.#shared().logger.error(`an input side could not be closed: ${messageOf(error)}`))
      .finally(() => this.#draining.delete(one))
    return one.ending
  }

  /** Takes no new event, and waits for the handlers under way, also those of replaced sides. Its side can be opened again. */
  async close(): Promise<void> {
    if (this.#current) this.#retire(this.#current)
    this.#closing.abort()
    this.#closing = new AbortController()
    await Promise.all([...this.#draining].map(({ ending }) => ending))
  }
}

const isSameInput = (one: ParsedMetadata, other: ParsedMetadata): boolean =>
  isSameMetadata([one.push, one.pull], [other.push, other.pull])
