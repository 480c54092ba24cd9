// One component of `run`: asks the application to subscribe, delivers, counts, logs failures.
import { Binding, type InvokeAnswer } from '../../binding/binding.ts'
import { judge } from '../../binding/health.ts'
import type { Endpoints } from '../../core/endpoints.ts'
import { BindingError } from '../../core/errors.ts'
import type { ReceivedEvent } from '../../core/event.ts'
import { type Logger, withoutWarnings } from '../../core/logger.ts'
import { createQuietLog } from '../../core/quiet-log.ts'
import { Secret } from '../../core/secret.ts'
import { forwardedMetadata } from '../../dispatch/processing.ts'
import type { Side } from '../../metadata/fields/field-table.ts'
import type { LoadedComponent } from '../../metadata/folder/load-components.ts'
import { oneSide, parseDirection } from '../../metadata/typed/configured-sides.ts'
import { oneLine } from '../../support/text/text.ts'
import { pause, systemClock } from '../../support/time/clock.ts'
import { type ComponentCounters, type EventResult, figuresOf, type Metrics } from '../shared/metrics.ts'
import type { AppChannel, PostedEvent } from './app/app-channel.ts'

/** A component whose binding is up. */
export type RunningComponent = Awaited<ReturnType<typeof openComponent>>

export interface OpenOptions {
  readonly channel: AppChannel | undefined
  readonly logger: Logger
  readonly metrics: Metrics
  readonly endpoints?: Endpoints | undefined
}

const minProbeDelayMs = 100
const maxProbeDelayMs = 5_000
/** Longest reason of a failure in the log, in characters. */
const maxReason = 2_000

/** What happens to events while no application takes them, for the log. */
export function untakenEvents({ metadata: { pull } }: Pick<LoadedComponent, 'metadata'>): string {
  return pull
    ? 'no events are received, and Event Grid keeps them'
    : 'deliveries get 503, and Event Grid sends them again'
}

/**
 * Opens a component's binding; its event subscription is brought up in the background.
 * Rejects as `Binding.init` does; then nothing is left running.
 */
export async function openComponent(loaded: LoadedComponent, options: OpenOptions) {
  const { channel, logger, metrics, endpoints } = options
  const { component, metadata } = loaded
  // Each side would repeat them.
  for (const warning of metadata.warnings) logger.warn(warning)
  const open = async (side: Side) => {
    const binding = new Binding({ logger: withoutWarnings(logger, metadata.warnings), ...(endpoints && { endpoints }) })
    const properties = oneSide(component.properties, side)
    await binding.init({ ...component, properties }, { subscription: 'background' })
    return binding
  }
  // A binding for each side, since the input ends before the output: an application may publish while it handles an event.
  const output = metadata.output && (await open('output'))
  const input =
    (metadata.input || metadata.pull) &&
    (await open('input').catch(async (error: unknown) => {
      await output?.close()
      throw error
    }))
  const eitherSide = output ?? input
  // The metadata was checked for it.
  if (!eitherSide) throw new Error('the component has no side')
  const counters = metrics.component(component.name)
  const attachment = channel && input ? attach(loaded, input, channel, { logger, counters }) : undefined
  const health = () => judge({ input: input?.health().input, output: output?.health().output })
  return {
    loaded,
    operations: () => eitherSide.operations(),
    /** Runs an operation as `Binding.invoke` does; logs a failure, the same one at most twice a minute. */
    invoke: countedInvoke(eitherSide, { logger, counters }),
    health,
    figures: () => figuresOf(component.name, health(), { inFlight: attachment?.inFlight() ?? 0 }),
    /** Whether the application takes events. While it does not, deliveries get 503, and pull delivery receives nothing. */
    appIsUp: (up: boolean) => attachment?.appIsUp(up),
    /** Accepts no more events, and waits for those that the application handles. `create` still works. */
    async drain() {
      attachment?.end()
      await input?.close()
    },
    async close() {
      await Promise.all([input?.close(), output?.close()])
    },
  }
}

/** Where calls are counted and failures are logged. */
interface Reports {
  readonly logger: Logger
  readonly counters: ComponentCounters
}

function countedInvoke(binding: Binding, { logger, counters }: Reports) {
  const failures = createQuietLog({ logger, now: () => performance.now() })
  return async (
    operation: string,
    data: unknown,
    metadata: Readonly<Record<string, string>>,
  ): Promise<InvokeAnswer> => {
    const since = performance.now()
    const count = (code: string) => counters.invoke(code, performance.now() - since)
    try {
      const answer = await binding.invoke(operation, data, { metadata })
      count('OK')
      return answer
    } catch (error) {
      const code = error instanceof BindingError ? error.code : 'UNEXPECTED'
      count(code)
      const reason = error instanceof BindingError ? error.message : 'an unexpected error'
      failures.warn(`${operation} failed`, { code, reason: oneLine(reason, maxReason) }, code)
      throw error
    }
  }
}

/** Hands the binding's events to the application once it asks for them. */
function attach(loaded: LoadedComponent, binding: Binding, channel: AppChannel, { logger, counters }: Reports) {
  const { name, properties } = loaded.component
  function textOf(field: string): string | undefined {
    const [, value] = Object.entries(properties).findLast(([key]) => key.toLowerCase() === field) ?? []
    return value instanceof Secret ? value.reveal() : value?.toString()
  }
  const address = channel.addressOf({ name, route: textOf('route') })
  // Dapr asks the application only where the component does not have this.
  const isInput = parseDirection(textOf('direction')?.trim() ?? '')?.has('input') ?? false
  let current: AbortController | undefined
  let isEnded = false
  let inFlight = 0

  async function deliver(event: PostedEvent): Promise<void> {
    const since = performance.now()
    inFlight++
    let result: EventResult = 'failed'
    try {
      await channel.deliver(address, event)
      result = 'acknowledged'
    } finally {
      inFlight--
      counters.event(event.signal.aborted ? 'abandoned' : result, performance.now() - since)
    }
  }

  /**
   * An async function would keep the whole event until the application has answered; its parsed form may be thirty
   * times as large as its bytes.
   */
  const handle = ({ data, signal, ...event }: ReceivedEvent) =>
    deliver({ data, metadata: forwardedMetadata(event), signal })

  async function subscribe(signal: AbortSignal): Promise<void> {
    let logged: string | undefined
    for (let waitMs = minProbeDelayMs; ; waitMs = Math.min(waitMs * 2, maxProbeDelayMs)) {
      const { subscribed, status } = isInput ? { subscribed: true } : await channel.probe(address)
      if (signal.aborted) return
      if (subscribed) break
      const why =
        status === undefined ? `the application can't be reached at ${address}` : channel.refusal(address, status)
      if (why !== logged) logger.warn(`${why}. Until then ${untakenEvents(loaded)}`)
      logged = why
      await pause(systemClock, waitMs, signal)
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
    inFlight: () => inFlight,
    appIsUp(up: boolean): void {
      stop()
      binding.read(undefined)
      if (!up || isEnded) return
      current = new AbortController()
      void subscribe(current.signal)
    },
    /** Asks the application no more. */
    end(): void {
      isEnded = true
      stop()
    },
  }
}
