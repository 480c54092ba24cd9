import { Binding } from '../binding/binding.ts'
import type { ReceivedEvent } from '../core/event.ts'
import { type Logger, withoutWarnings } from '../core/logger.ts'
import { Secret } from '../core/secret.ts'
import type { Side } from '../metadata/fields.ts'
import type { LoadedComponent } from '../metadata/load-components.ts'
import { oneSide } from '../metadata/one-side.ts'
import type { AppChannel } from './app-channel.ts'

/** A component whose binding is up. */
export interface RunningComponent {
  readonly loaded: LoadedComponent
  /** Runs its operations, or says that there is no output side. */
  readonly binding: Binding | undefined
  /** The application is there, or it is gone: events are handed to it, or are answered 503 and come again. */
  appIsUp(up: boolean): void
  /** Takes no more events, and waits for those that the application has. `create` still works. */
  drain(): Promise<void>
  close(): Promise<void>
}

/** What {@link openComponent} needs beside the component. */
export interface OpenOptions {
  /** `undefined`: there is no application, so events wait. */
  readonly channel: AppChannel | undefined
  readonly logger: Logger
}

const firstProbeAgainMs = 100
const lastProbeAgainMs = 5_000

/**
 * Opens a component's binding; its event subscription is brought up in the background.
 * Rejects as `Binding.init` does; then nothing is left running.
 */
export async function openComponent(loaded: LoadedComponent, options: OpenOptions): Promise<RunningComponent> {
  const { channel, logger } = options
  const { component, metadata } = loaded
  // Each side would say them.
  for (const warning of metadata.warnings) logger.warn(warning)
  const open = async (side: Side) => {
    const binding = new Binding({ logger: withoutWarnings(logger, metadata.warnings) })
    await binding.init(
      { ...component, properties: oneSide(component.properties, side) },
      { subscription: 'background' },
    )
    return binding
  }
  // A binding for each side, for the input ends before the output does: an application may publish what it handles an event with.
  const output = metadata.output && (await open('output'))
  const input =
    metadata.input &&
    (await open('input').catch(async (error: unknown) => {
      await output?.close()
      throw error
    }))
  const attachment = channel && input ? attach(loaded, input, channel, logger) : undefined
  return {
    loaded,
    binding: output ?? input,
    appIsUp: (up) => attachment?.appIsUp(up),
    async drain() {
      attachment?.end()
      await input?.close()
    },
    async close() {
      await Promise.all([input?.close(), output?.close()])
    },
  }
}

/** Hands the binding's events to the application, once the application says that it wants them. */
function attach(
  { component: { name, properties } }: LoadedComponent,
  binding: Binding,
  channel: AppChannel,
  logger: Logger,
) {
  const texts = new Map(
    Object.entries(properties).map(([key, value]) => [
      key.toLowerCase(),
      value instanceof Secret ? value.reveal() : String(value),
    ]),
  )
  const address = channel.addressOf({ name, route: texts.get('route') })
  // Dapr asks only where the component does not say so itself.
  const isInput = (texts.get('direction') ?? '').split(',').some((word) => word.trim().toLowerCase() === 'input')
  let current: AbortController | undefined
  let ended = false

  /** Not the event itself: as long as the application takes, its parsed form would stay as well, which may be thirty times as large. */
  const handle = ({ data, metadata, signal }: ReceivedEvent) => channel.deliver(address, { data, metadata, signal })

  async function subscribe(signal: AbortSignal): Promise<void> {
    let told: string | undefined
    for (let waitMs = firstProbeAgainMs; ; waitMs = Math.min(waitMs * 2, lastProbeAgainMs)) {
      const { subscribed, status } = isInput ? { subscribed: true } : await channel.probe(address)
      if (signal.aborted) return
      if (subscribed) break
      const why =
        status === undefined ? `the application can't be reached at ${address}` : channel.refusal(address, status)
      if (why !== told) logger.warn(`${why}. Until then events are answered 503 and come again`)
      told = why
      await passed(waitMs, signal)
      if (signal.aborted) return
    }
    binding.read(handle)
    logger.info(`events go to the application at ${address}`)
  }

  function stop(): void {
    current?.abort()
    current = undefined
  }

  return {
    appIsUp(up: boolean): void {
      stop()
      binding.read(undefined)
      if (!up || ended) return
      current = new AbortController()
      void subscribe(current.signal)
    },
    /** Asks the application no more, whatever becomes of it. */
    end(): void {
      ended = true
      stop()
    },
  }
}

/** Resolves after a time, or as soon as the signal aborts. */
function passed(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, ms)
    signal.addEventListener('abort', done, { once: true })
    function done() {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
  })
}
