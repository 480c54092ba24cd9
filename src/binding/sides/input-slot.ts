/** The slot of the input side: other metadata open a new server, or receiver; the former side stops, and drains behind the new one. */
import type { EventHandler } from '../../core/event.ts'
import type { FastifyHook } from '../../listener/listener.ts'
import { isSameMetadata, type ParsedMetadata, type PushMetadata } from '../../metadata/typed/metadata.ts'
import { messageOf } from '../../support/process/error-code.ts'
import type { ListenAddress } from '../binding-component.ts'
import type { InputHealth } from '../health.ts'
import type { InputSide, SideOptions } from '../side.ts'

/** How the input side is opened. */
interface Opening {
  readonly subscription: 'wait' | 'background'
  readonly signal: AbortSignal
  /** Aborts when the input side is closed: then nothing is opened again. */
  readonly closing: AbortSignal
}

interface OpenedInput {
  readonly side: InputSide
  readonly metadata: ParsedMetadata
  /** Present once the side takes nothing new. Resolves when its handlers have ended. Never rejects. */
  ending?: Promise<void>
}

/** What the next side takes over from the former one. */
interface TakenOver {
  /** Takes the place of a `handshakePort` of 0. */
  readonly port: number | undefined
  /** Whether deliveries were routed to it. */
  readonly wasReady: boolean
}

export type InputSlot = ReturnType<typeof createInputSlot>

export function createInputSlot(shared: () => SideOptions, fastify: FastifyHook | undefined) {
  const handler: { current: EventHandler | undefined; isLost: boolean } = { current: undefined, isLost: false }
  /** The side that is open, or was open last. */
  let current: OpenedInput | undefined
  /** Those that take nothing new, and whose handlers go on. */
  const draining = new Set<OpenedInput>()
  /** Aborts when the slot is closed: open requests of replaced receivers are to end then. */
  let closing = new AbortController()
  /** The metadata by which deliveries were accepted last. */
  let accepted: readonly PushMetadata[] = []

  /** Opens the former metadata again after a failed `replace`. Until a side is open, health says that there is no listener. */
  async function reopen(former: OpenedInput, takenOver: TakenOver, closing: AbortSignal): Promise<void> {
    if (!former.ending || closing.aborted) return
    const { logger } = shared()
    let again: OpenedInput | undefined
    try {
      again = await make(former.metadata, takenOver)
      closing.throwIfAborted()
      await open(again, { subscription: 'background', signal: closing, closing }, former)
      logger.warn('the former input side runs again')
    } catch (error) {
      again?.side.stop()
      if (again) retire(again)
      current = former
      logger.error(`the former input side could not be opened again: ${messageOf(error)}`)
    }
  }

  async function open(
    next: OpenedInput | undefined,
    { subscription, signal }: Opening,
    former: OpenedInput | undefined,
  ): Promise<void> {
    await next?.side.listen(signal)
    current = next
    await next?.side.start(subscription, signal, former?.side.endUpkeep())
    signal.throwIfAborted()
  }

  /** Makes an input side that does not listen yet; `undefined` where the metadata configure none. */
  // Push and pull need libraries of their own, which take time and memory: only those of the configured way are loaded.
  async function make(metadata: ParsedMetadata, { port = 0, wasReady }: TakenOver): Promise<OpenedInput | undefined> {
    const { push, pull } = metadata
    const options = { ...shared(), handler, formers: accepted }
    if (push) {
      const { createPushSide } = await import('./push-side.ts')
      const at = { ...push, handshakePort: push.handshakePort || port }
      return { side: await createPushSide(at, { ...options, fastify, wasReady }), metadata }
    }
    if (!pull) return undefined
    const { createPullSide } = await import('./pull-side.ts')
    return { side: await createPullSide(pull, options), metadata }
  }

  /** Takes nothing new. Resolves when the handlers under way have ended. */
  function retire(one: OpenedInput, hurry?: AbortSignal): Promise<void> {
    if (one.ending) return one.ending
    draining.add(one)
    one.ending = one.side
      .close(hurry)
      .catch((error: unknown) => shared().logger.error(`an input side could not be closed: ${messageOf(error)}`))
      .finally(() => draining.delete(one))
    return one.ending
  }

  return {
    address: (): ListenAddress | undefined => current?.side.address(),
    health: (): InputHealth | undefined => current?.side.health(),
    /** Whether a handler runs. Until it returns it may publish, also while its side opens or closes. */
    isHandling: () => [current, ...draining].some((one) => one?.side.isHandling()),
    read(next: EventHandler | undefined): void {
      handler.isLost = next === undefined && (handler.isLost || handler.current !== undefined)
      handler.current = next
      current?.side.handlerChanged()
    },
    /**
     * Replaces the current input side. Everything that does not need the port is done before the current side stops. If the new side can't
     * be opened, the former metadata are opened again. If the metadata are the same, the current side goes on.
     */
    async replace(metadata: ParsedMetadata, opening: Opening): Promise<void> {
      const former = current
      const isOpen = former !== undefined && !former.ending
      if (isOpen && isSameInput(former.metadata, metadata)) return
      const hasInput = metadata.push !== undefined || metadata.pull !== undefined
      if (isOpen) shared().logger.info(`the input side ${hasInput ? 'starts anew' : 'ends'}`)
      const takenOver = { port: former?.side.address()?.port, wasReady: isOpen && former.side.health().ready }
      accepted = former?.side.accepts() ?? accepted
      const next = await make(metadata, takenOver)
      try {
        opening.signal.throwIfAborted()
        former?.side.stop()
        if (former) retire(former, closing.signal)
        await open(next, opening, former)
      } catch (error) {
        next?.side.stop()
        const ended = next && retire(next)
        current = former
        if (isOpen) await reopen(former, takenOver, opening.closing)
        else await ended
        throw error
      }
    },
    /** Takes no new event, and waits for the handlers under way, also those of replaced sides. The side can be opened again. */
    async close(): Promise<void> {
      if (current) retire(current)
      closing.abort()
      closing = new AbortController()
      await Promise.all([...draining].map(({ ending }) => ending))
    },
  }
}

const isSameInput = (one: ParsedMetadata, other: ParsedMetadata): boolean =>
  isSameMetadata([one.push, one.pull], [other.push, other.pull])
