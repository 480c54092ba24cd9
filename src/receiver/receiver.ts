/** Pull delivery: asks for events as far as there is room, hands them to the application, and settles what was received before it ends. */
import { AsyncResource } from 'node:async_hooks'
import { explainNamespaceRefusal } from '../azure/refusals/namespace-refusal.ts'
import type { RenewableCredential } from '../azure/token-keeper.ts'
import type { Endpoints } from '../core/endpoints.ts'
import { BindingError, type BindingErrorCode } from '../core/errors.ts'
import { createQuietLog, type QuietLog } from '../core/logger.ts'
import { outsideOfCaller } from '../core/telemetry.ts'
import { Dispatcher, type DispatcherOptions } from '../dispatch/dispatcher.ts'
import { processRoom } from '../dispatch/room.ts'
import type { PullMetadata } from '../metadata/typed/metadata.ts'
import { nameOf } from '../support/process/error-code.ts'
import { pause, realTimers, type SteadyClock, within } from '../support/time/clock.ts'
import { retryPause } from '../support/work/work.ts'
import { createHeldEvents } from './held-events.ts'
import {
  createNamespaceClient,
  type LockedEvent,
  type NamespaceClient,
  probeReceive,
  type RequestFailure,
} from './namespace-client.ts'
import { createPullCounts } from './pull-counts.ts'
import {
  createReceiveFailures,
  decideMaxEvents,
  decideReceive,
  firstMaxEvents,
  type ReceiveFailuresOptions,
} from './receives.ts'
import { traceClient } from './telemetry.ts'

export interface ReceiverOptions
  extends Pick<DispatcherOptions, 'handler' | 'onError' | 'secrets'>,
    Pick<ReceiveFailuresOptions, 'logger'> {
  readonly pull: PullMetadata
  readonly endpoints: Endpoints
  readonly namespaceEndpoint: string
  /** What to receive with; `undefined` where the namespace's key does. */
  readonly credential: RenewableCredential | undefined
  readonly clock: SteadyClock
}

/**
 * How long Event Grid keeps a receive open while the queue is empty: 10 to 120 s. A connection that broke in silence is noticed
 * soon after, and proxies that close what is idle for a minute do not cut it.
 */
const maxWaitSeconds = 30
/** An empty queue is answered after `maxWaitSeconds`; an answer within this time did not wait. */
const atOnceMs = 1_000
/** How long close waits for answers to open receives, in ms: the namespace may lock an event for them at any time. */
const lastAnswersMs = 1_000
/** How long close waits for settlements after the handlers have ended or had their time: a cut one leaves its event locked. */
const lastSettlementsMs = 5_000

/** Receives events as long as handler calls are free, and settles each by how its handling ended. */
export class Receiver {
  readonly #options: ReceiverOptions
  readonly #client: NamespaceClient
  readonly #log: QuietLog
  readonly #dispatcher: Dispatcher
  readonly #held: ReturnType<typeof createHeldEvents>
  readonly #failures: ReturnType<typeof createReceiveFailures>
  readonly #counts = createPullCounts()
  readonly #closing = new AbortController()
  /** Ends the receives that are open. */
  readonly #cutting = new AbortController()
  /** What the open receives ask for. */
  readonly #open = new Set<{ readonly asked: number }>()
  /** Resolves when nothing more is asked for and no receive is open. */
  readonly #lastAnswer = Promise.withResolvers<void>()
  readonly #onRoom = () => this.#pumpSoon()
  #willPump = false
  #wasFull = false
  #maxEvents = firstMaxEvents
  #everReceived = false

  constructor(options: ReceiverOptions) {
    const { pull, handler, onError, secrets, logger, clock } = options
    const onRoom = this.#onRoom
    this.#options = options
    this.#client = traceClient(connect(options), destinationOf(options))
    const destination = pull.namespaceTopic.topic
    this.#log = createQuietLog({ logger, clock })
    this.#dispatcher = new Dispatcher({
      ...pull,
      destination,
      handler,
      onError,
      secrets,
      clock,
      log: this.#log,
      onCallEnd: onRoom,
    })
    this.#held = createHeldEvents({
      ...options,
      client: this.#client,
      counts: this.#counts,
      log: this.#log,
      onRoom,
    })
    const { signal } = this.#closing
    this.#failures = createReceiveFailures({ ...options, signal, onPauseEnd: () => this.#pump() })
    this.#pump()
  }

  status() {
    const { handling } = this.#dispatcher.status()
    // With handlers that hang and hold all room nothing is received, as with handlers that hang in all calls.
    const allHang = handling.allHang || (processRoom.isFull() && this.#dispatcher.allHang)
    return {
      /** Why nothing can be received now; `undefined` where the last receive succeeded. */
      failure: this.#failures.current(),
      everReceived: this.#everReceived,
      draining: this.#closing.signal.aborted,
      handling: { ...handling, allHang },
      counts: structuredClone(this.#counts),
    }
  }

  /** To be called when a handler was attached. */
  handlerAttached(): void {
    this.#pump()
  }

  isHandling(): boolean {
    return this.#dispatcher.running > 0
  }

  /**
   * Asks for nothing more. What its open receives still bring is released at once, since the namespace may have locked events for them
   * already. Awaits the handlers, `handlerTimeout` at the longest; then five seconds are left to settle their events.
   *
   * @param hurry aborts when the open receives are to end: within a second. Until then each ends by itself, as after an
   *   `update`. @default at once
   */
  async close(hurry = AbortSignal.abort()): Promise<void> {
    const { clock, pull } = this.#options
    this.#closing.abort()
    this.#dispatcher.stop()
    this.#endIfIdle()
    // Real time: the namespace does not know the clock of a test.
    const onHurry = () =>
      realTimers.abortAfter(lastAnswersMs).addEventListener('abort', () => this.#cutting.abort(), { once: true })
    if (hurry.aborted) onHurry()
    else hurry.addEventListener('abort', onHurry, { once: true })
    await Promise.all([this.#lastAnswer.promise, within(clock, pull.handlerTimeoutMs, this.#dispatcher.idle())])
    hurry.removeEventListener('abort', onHurry)
    await within(clock, lastSettlementsMs, this.#held.idle())
    this.#held.close()
    this.#client.close()
    this.#log.close()
  }

  /** Events that end in the same turn make one receive. */
  #pumpSoon(): void {
    if (this.#willPump) return
    this.#willPump = true
    realTimers.setImmediate(() => {
      this.#willPump = false
      this.#pump()
    })
  }

  #pump(): void {
    const { handler, pull } = this.#options
    if (this.#closing.signal.aborted || this.#failures.isPausing() || !handler.current) return
    if (processRoom.isFull()) {
      processRoom.whenFree(this.#onRoom)
      return
    }
    for (;;) {
      // An event is held until it is settled: a namespace that settles slowly must not fill the memory.
      const freeCalls = pull.maxConcurrency - this.#dispatcher.running
      const free = Math.min(freeCalls, 2 * pull.maxConcurrency - this.#held.size)
      const open = [...this.#open].map(({ asked }) => asked)
      const asked = decideReceive({ free, open, wasFull: this.#wasFull, maxEvents: this.#maxEvents })
      if (asked === 0) return
      void this.#receive(asked)
    }
  }

  async #receive(asked: number): Promise<void> {
    const request = { asked }
    this.#open.add(request)
    const askedAt = this.#options.clock.elapsed()
    try {
      const { signal } = this.#cutting
      const answer = await this.#client.receive({ maxEvents: asked, maxWaitSeconds, signal })
      this.#open.delete(request)
      if ('failure' in answer) this.#notReceived(answer.failure)
      else this.#received(answer.events, asked, askedAt)
    } catch (error) {
      // Our code failed. The events come again when their locks end.
      this.#open.delete(request)
      this.#notReceived({ reason: `an unexpected error (${nameOf(error)})` })
    }
    this.#endIfIdle()
  }

  #endIfIdle(): void {
    if (this.#closing.signal.aborted && this.#open.size === 0) this.#lastAnswer.resolve()
  }

  #received(events: readonly LockedEvent[], asked: number, askedAt: number): void {
    const { clock, logger } = this.#options
    const receivedAt = clock.elapsed()
    this.#countReceive('200')
    this.#everReceived = true
    this.#failures.succeeded({ isEmptyAtOnce: events.length === 0 && receivedAt - askedAt < atOnceMs })
    logger.debug('received', { events: events.length, askedFor: asked })
    this.#wasFull = events.length === asked
    if (events.length > 0) this.#maxEvents = decideMaxEvents(events.map(({ bytes }) => bytes.length))
    // Each event is a delivery of its own, because each is settled by itself. Its asynchronous context is its own, too: this receive may
    // have begun in the context of a handler.
    outsideOfCaller(() => {
      for (const event of events) {
        const delivery = new AsyncResource('EventGridDelivery')
        delivery.runInAsyncScope(() => this.#dispatcher.dispatch(this.#held.hold(event, receivedAt)))
      }
    })
    this.#pump()
  }

  #notReceived(failure: RequestFailure): void {
    if (this.#closing.signal.aborted) return
    this.#countReceive(String(failure.status ?? 'none'))
    this.#wasFull = false
    // The answer may have been too long for the way.
    if (failure.status === undefined) this.#maxEvents = Math.ceil(this.#maxEvents / 2)
    this.#failures.failed(failure)
  }

  #countReceive(status: string): void {
    const { receives } = this.#counts
    receives[status] = (receives[status] ?? 0) + 1
  }
}

/** Pauses while topic or event subscription are missing, in ms. */
const missingPace = { baseMs: 500, maxMs: 15_000, maxAskedMs: 300_000 }

/** Statuses by which the namespace refuses to let events be received. What is missing may come. */
const refusalCodes: ReadonlyMap<number, BindingErrorCode> = new Map([
  [401, 'CREDENTIALS_REJECTED'],
  [403, 'PERMISSION_DENIED'],
  [404, 'SCOPE_NOT_FOUND'],
  [410, 'SCOPE_NOT_FOUND'],
])

/**
 * Resolves unless the namespace refuses to let events be received: the credential is wrong, or topic or event subscription are missing.
 * Where the namespace does not answer, or fails, this resolves too: receiving tries again, and health tells.
 *
 * @throws BindingError CREDENTIALS_REJECTED (also of Entra) or PERMISSION_DENIED at once; SCOPE_NOT_FOUND after `subscriptionTimeout`;
 *   the reason of `signal`
 */
export async function waitUntilReceivable(options: ReceiverOptions, signal: AbortSignal): Promise<void> {
  const { clock, pull, logger } = options
  const until = clock.elapsed() + pull.subscriptionTimeoutMs
  const client = connect(options)
  try {
    for (let attempt = 1; ; attempt++) {
      const failure = await probeReceive(client, signal)
      signal.throwIfAborted()
      if (failure?.refusal) throw failure.refusal
      const code = refusalCodes.get(failure?.status ?? 0)
      if (!failure || code === undefined) return
      const { status, reason, retryAfterMs } = failure
      const fix = failure.fix ?? explainNamespaceRefusal(failure, pull)
      const leftMs = until - clock.elapsed()
      const pauseMs = retryPause({ attempt, retryAfterMs, leftMs, random: Math.random() }, missingPace)
      if (code !== 'SCOPE_NOT_FOUND' || pauseMs === undefined) {
        throw new BindingError(code, { what: `events cannot be received: ${reason}`, fix, details: { status } })
      }
      logger.warn(`events cannot be received: ${reason}`, { attempt, retryInMs: Math.round(pauseMs) })
      await pause(clock, pauseMs, signal)
    }
  } finally {
    client.close()
  }
}

/** Opens a client without traces: a question about the way is no receive of the application's. */
function connect(options: ReceiverOptions): NamespaceClient {
  const { pull, endpoints, credential } = options
  const { namespaceKey: key, environment } = pull
  const authentication = key
    ? ({ kind: 'key', key } as const)
    : credential && ({ kind: 'entra', credential, scope: environment.topicScope } as const)
  // The check of the metadata has made sure that there is a key or a credential.
  if (!authentication) throw new Error('pull delivery has neither a key nor a credential')
  return createNamespaceClient({ ...destinationOf(options), authentication, endpoints })
}

function destinationOf({ pull, namespaceEndpoint }: ReceiverOptions) {
  const { namespaceTopic, eventSubscriptionName } = pull
  return { namespaceEndpoint, topicName: namespaceTopic.topic, eventSubscriptionName }
}
