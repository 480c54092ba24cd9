/** One component of `run`: its events go to the application, its calls are counted. */
import { isDeepStrictEqual } from 'node:util'
import type { BindingComponent, ComponentAnswer, InvokeOptions } from '../../binding/binding-component.ts'
import { component } from '../../binding/component.ts'
import type { Endpoints } from '../../core/endpoints.ts'
import { isBindingError, shownMessage } from '../../core/errors.ts'
import type { ReceivedEvent } from '../../core/event.ts'
import { createQuietLog, type Logger, type QuietLog } from '../../core/logger.ts'
import { Secret } from '../../core/secret.ts'
import { forwardedMetadata } from '../../dispatch/handler.ts'
import type { LoadedComponent } from '../../metadata/load/load-files.ts'
import { messageOf } from '../../support/process/error-code.ts'
import { oneLine } from '../../support/text/text.ts'
import { pause, systemClock } from '../../support/time/clock.ts'
import { inBackground } from '../../support/work/work.ts'
import { type ComponentCounters, type EventResult, figuresOf, type Metrics } from '../shared/metrics.ts'
import { type AppChannel, type EventAnswer, type PostedEvent, type Probed, probeTimeoutMs } from './app/app-channel.ts'

/** A component that is up, and stays the same while its metadata change. */
export type RunningComponent = ReturnType<typeof createComponent>

export interface OpenOptions {
  readonly channel: AppChannel | undefined
  readonly logger: Logger
  readonly metrics: Metrics
  readonly endpoints?: Endpoints | undefined
  /** Publishes what the application returns for an event. Never rejects. */
  readonly publishAnswer: (answer: EventAnswer, signal: AbortSignal) => Promise<void>
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

/** Makes a component that does not run yet: `openOutput`, then `open`. */
export function createComponent(first: LoadedComponent, options: OpenOptions) {
  const { channel, logger, metrics, endpoints, publishAnswer } = options
  const { name } = first.component
  const binding = component.create({ logger, ...(endpoints && { endpoints }) })
  const counters = metrics.component(name)
  const failures = createQuietLog({ logger })
  let loaded = first
  let isOpen = false
  let isSettled = false
  let inFlight = 0
  let attachment: { readonly to: string; readonly attached: ReturnType<typeof attach> } | undefined

  async function deliver(to: AppChannel, address: string, event: PostedEvent): Promise<void> {
    const since = performance.now()
    inFlight++
    let result: EventResult = 'failed'
    try {
      const answer = await to.deliver(address, event)
      if (answer) await publishAnswer(answer, event.signal)
      result = 'acknowledged'
    } finally {
      inFlight--
      counters.event(event.signal.aborted ? 'abandoned' : result, performance.now() - since)
    }
  }

  /** Asks the application anew only where the question has changed. */
  function attachTo(next: LoadedComponent): void {
    const target = channel && targetOf(next, channel)
    const to = JSON.stringify(target)
    if (attachment?.to === to) return
    attachment?.attached.end()
    binding.read(undefined)
    attachment = channel && target && { to, attached: attach(target, binding, channel, logger, deliver) }
  }

  async function drain(): Promise<void> {
    attachment?.attached.end()
    await binding.close({ sides: ['input'] })
  }

  return {
    get loaded() {
      return loaded
    },
    /** The port of its listener; `undefined` without one. */
    port: () => binding.address()?.port,
    operations: () => binding.operations(),
    /** Runs an operation as `Binding.invoke` does. Logs a failure; failures alike are logged once in 30 s. */
    invoke: countedInvoke(binding, failures, counters),
    health: () => binding.health(),
    figures: () => figuresOf(name, binding.health(), { inFlight }),
    /** Whether the application takes events. While it does not, deliveries get 503, and pull delivery receives nothing. */
    appIsUp: (up: boolean) => attachment?.attached.appIsUp(up),
    /** Whether `open` has succeeded once. */
    get isOpen() {
      return isOpen
    },
    /** Whether the last `open` has succeeded. After a failure nobody knows for certain whether the former sides are open again. */
    get isSettled() {
      return isSettled
    },
    /** Opens the output side alone, so that it takes calls before any component gets events. @throws BindingError of `Binding.init` */
    openOutput: () => binding.init(first.component, { sides: ['output'], subscription: 'background' }),
    /**
     * Opens what is not open, or changes it to other metadata; the event subscription is brought up in the background.
     *
     * @throws BindingError of `Binding.update`; a component that was open goes on as before, where its former port is still free
     */
    async open(next: LoadedComponent): Promise<void> {
      isSettled = false
      await binding.update(next.component)
      isOpen = true
      isSettled = true
      loaded = next
      attachTo(next)
    },
    /** Accepts no more events, and waits for the events that the application handles. `create` still works. */
    drain,
    async close(): Promise<void> {
      attachment?.attached.end()
      await binding.close()
      failures.close()
    },
  }
}

function countedInvoke(binding: BindingComponent, failures: QuietLog, counters: ComponentCounters) {
  return async (operation: string, data: unknown, call: InvokeOptions): Promise<ComponentAnswer> => {
    const since = performance.now()
    const count = (code: string) => counters.invoke(code, performance.now() - since)
    try {
      const answer = await binding.invoke(operation, data, call)
      count('OK')
      return answer
    } catch (error) {
      const code = isBindingError(error) ? error.code : 'UNEXPECTED'
      count(code)
      failures.warn(`${operation} failed`, { code, reason: oneLine(shownMessage(error), maxReason) }, code)
      throw error
    }
  }
}

interface Target {
  readonly address: string
  /** Dapr asks the application only where the component does not have this. */
  readonly isInput: boolean
  /** What happens to events while no application takes them. */
  readonly untaken: string
}

/** Where a component's events go; `undefined` where it has no input side. */
function targetOf({ component, metadata }: LoadedComponent, channel: AppChannel): Target | undefined {
  if (!metadata.push && !metadata.pull) return undefined
  const { name, properties } = component
  const [, route] = Object.entries(properties).findLast(([key]) => key.toLowerCase() === 'route') ?? []
  const address = channel.addressOf({ name, route: route instanceof Secret ? route.reveal() : route?.toString() })
  return { address, isInput: metadata.direction?.has('input') ?? false, untaken: untakenEvents({ metadata }) }
}

/** Hands the component's events to the application once it asks for them. */
function attach(
  { address, isInput, untaken }: Target,
  binding: BindingComponent,
  channel: AppChannel,
  logger: Logger,
  deliver: (to: AppChannel, address: string, event: PostedEvent) => Promise<void>,
) {
  let current: AbortController | undefined
  let isEnded = false
  let isUp = false

  /**
   * An async function would keep the whole event until the application has answered; its parsed form may be thirty
   * times as large as its bytes.
   */
  const handle = ({ data, signal, ...event }: ReceivedEvent) =>
    deliver(channel, address, { data, metadata: forwardedMetadata(event), signal })

  function whyNot(probed: Exclude<Probed, { kind: 'subscribed' }>): string {
    switch (probed.kind) {
      case 'refused':
        return channel.refusal(address, probed.status)
      case 'silent':
        return `the application does not answer in ${probeTimeoutMs / 1_000} s whether it takes events at ${address}`
      case 'unreachable':
        return `the application can't be reached at ${address} (${probed.why})`
    }
  }

  async function subscribe(signal: AbortSignal): Promise<void> {
    let logged: Probed | undefined
    for (let waitMs = minProbeDelayMs; ; waitMs = Math.min(waitMs * 2, maxProbeDelayMs)) {
      const probed: Probed = isInput ? { kind: 'subscribed' } : await channel.probe(address)
      if (signal.aborted) return
      if (probed.kind === 'subscribed') break
      if (!isDeepStrictEqual(probed, logged)) logger.warn(`${whyNot(probed)}. Until then ${untaken}`)
      logged = probed
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
    appIsUp(up: boolean): void {
      if (up === isUp) return
      isUp = up
      stop()
      binding.read(undefined)
      if (!up || isEnded) return
      current = new AbortController()
      const failed = (error: unknown) =>
        logger.error(`the application could not be asked for events: ${messageOf(error)}`)
      inBackground(subscribe(current.signal), failed)
    },
    /** Asks the application no more. */
    end(): void {
      isEnded = true
      stop()
    },
  }
}
