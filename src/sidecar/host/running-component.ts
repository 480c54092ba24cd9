// One component of `run`: asks the application to subscribe, delivers, counts, logs failures.
import { isDeepStrictEqual } from 'node:util'
import {
  type ComponentSides,
  createComponentSides,
  type InvokeAnswer,
  type InvokeOptions,
} from '../../binding/sides/component-sides.ts'
import type { Endpoints } from '../../core/endpoints.ts'
import { BindingError } from '../../core/errors.ts'
import type { ReceivedEvent } from '../../core/event.ts'
import { type Logger, withTrace } from '../../core/logger.ts'
import { createQuietLog } from '../../core/quiet-log.ts'
import { Secret } from '../../core/secret.ts'
import { forwardedMetadata } from '../../dispatch/processing.ts'
import type { LoadedComponent } from '../../metadata/folder/judge-file.ts'
import { describeIssue } from '../../metadata/typed/metadata-invalid.ts'
import { messageOf } from '../../support/process/error-code.ts'
import { oneLine } from '../../support/text/text.ts'
import { pause, systemClock } from '../../support/time/clock.ts'
import { inBackground } from '../../support/work/in-background.ts'
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

/** Makes a component without a side: `open` opens them. */
export function createComponent(first: LoadedComponent, options: OpenOptions) {
  const { channel, logger, metrics, endpoints, publishAnswer } = options
  const { name } = first.component
  const sides = createComponentSides({ logger: withTrace(logger), endpoints })
  const counters = metrics.component(name)
  let loaded = first
  let isInputOpen = false
  let attachment: ReturnType<typeof attach> | undefined

  async function drain(): Promise<void> {
    isInputOpen = false
    attachment?.end()
    await sides.closeInput()
  }

  /** Whether the input side goes on as it is: it is open, and its metadata are the same. */
  function keepsInput({ metadata, inputFingerprint }: LoadedComponent): boolean {
    const { input, pull } = loaded.metadata
    // The fields of the output side can decide whether there is an input side.
    const isSameKind = !metadata.input === !input && !metadata.pull === !pull
    return isInputOpen && isSameKind && inputFingerprint === loaded.inputFingerprint
  }

  async function openInput(next: LoadedComponent): Promise<void> {
    await drain()
    sides.read(undefined)
    const { component, metadata } = next
    await sides.openInput({ name, metadata, source: component })
    isInputOpen = true
    const isInput = metadata.input || metadata.pull
    attachment = channel && isInput ? attach(next, sides, channel, { logger, counters, publishAnswer }) : undefined
  }

  return {
    get loaded() {
      return loaded
    },
    keepsInput,
    /** The port of its listener; `undefined` without one. */
    port: () => sides.address()?.port,
    /** Runs an operation as `Binding.invoke` does; logs a failure, the same one at most twice a minute. */
    invoke: countedInvoke(sides, { logger, counters }),
    health: sides.health,
    figures: () => figuresOf(name, sides.health(), { inFlight: attachment?.inFlight() ?? 0 }),
    /** Whether the application takes events. While it does not, deliveries get 503, and pull delivery receives nothing. */
    appIsUp: (up: boolean) => attachment?.appIsUp(up),
    /** Sides that are opened later find Azure here. */
    moveTo: sides.moveTo,
    /**
     * Opens the sides that the metadata configure; the event subscription is brought up in the background. The former input side is
     * closed before, unless it goes on; the former output side is closed when the new one is ready.
     *
     * @throws BindingError of the sides; then an input side that was opened is closed, and the output side is the former one
     */
    async open(next: LoadedComponent): Promise<void> {
      const { component, metadata } = next
      for (const warning of metadata.warnings) logger.warn(describeIssue(warning))
      const keeps = keepsInput(next)
      if (!keeps) await openInput(next)
      try {
        await sides.openOutput({ name, metadata, source: component })
      } catch (error) {
        if (!keeps) await drain()
        throw error
      }
      loaded = next
    },
    /** Accepts no more events, and waits for those that the application handles. `create` still works. */
    drain,
    async close(): Promise<void> {
      await drain()
      await sides.closeOutput()
    },
  }
}

/** Where calls are counted and failures are logged. */
interface Reports {
  readonly logger: Logger
  readonly counters: ComponentCounters
}

function countedInvoke(sides: ComponentSides, { logger, counters }: Reports) {
  const failures = createQuietLog({ logger, now: () => performance.now() })
  return async (operation: string, data: unknown, call: InvokeOptions): Promise<InvokeAnswer> => {
    const since = performance.now()
    const count = (code: string) => counters.invoke(code, performance.now() - since)
    try {
      const answer = await sides.invoke(operation, data, call)
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

/** Hands the component's events to the application once it asks for them. */
function attach(
  loaded: LoadedComponent,
  sides: ComponentSides,
  channel: AppChannel,
  { logger, counters, publishAnswer }: Reports & Pick<OpenOptions, 'publishAnswer'>,
) {
  const { name, properties } = loaded.component
  function textOf(field: string): string | undefined {
    const [, value] = Object.entries(properties).findLast(([key]) => key.toLowerCase() === field) ?? []
    return value instanceof Secret ? value.reveal() : value?.toString()
  }
  const address = channel.addressOf({ name, route: textOf('route') })
  // Dapr asks the application only where the component does not have this.
  const isInput = loaded.metadata.direction?.has('input') ?? false
  let current: AbortController | undefined
  let isEnded = false
  let isUp = false
  let inFlight = 0

  async function deliver(event: PostedEvent): Promise<void> {
    const since = performance.now()
    inFlight++
    let result: EventResult = 'failed'
    try {
      const answer = await channel.deliver(address, event)
      if (answer) await publishAnswer(answer, event.signal)
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

  function whyNot(probed: Exclude<Probed, { kind: 'subscribed' }>): string {
    switch (probed.kind) {
      case 'refused':
        return channel.refusal(address, probed.status)
      case 'silent':
        return `the application does not answer in ${probeTimeoutMs / 1_000} s whether it takes events at ${address}`
      case 'unreachable':
        return `the application can't be reached at ${address}`
    }
  }

  async function subscribe(signal: AbortSignal): Promise<void> {
    let logged: Probed | undefined
    for (let waitMs = minProbeDelayMs; ; waitMs = Math.min(waitMs * 2, maxProbeDelayMs)) {
      const probed: Probed = isInput ? { kind: 'subscribed' } : await channel.probe(address)
      if (signal.aborted) return
      if (probed.kind === 'subscribed') break
      if (!isDeepStrictEqual(probed, logged)) logger.warn(`${whyNot(probed)}. Until then ${untakenEvents(loaded)}`)
      logged = probed
      await pause(systemClock, waitMs, signal)
      if (signal.aborted) return
    }
    sides.read(handle)
    logger.info(`events go to the application at ${address}`)
  }

  function stop(): void {
    current?.abort()
    current = undefined
  }

  return {
    inFlight: () => inFlight,
    appIsUp(up: boolean): void {
      if (up === isUp) return
      isUp = up
      stop()
      sides.read(undefined)
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
