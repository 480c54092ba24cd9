/** The queue of calls: what each carries, which are sent now, which wait and share a request, and when a refused request goes in halves. */
import type { Context } from '@opentelemetry/api'
import { BindingError, type PublishDetails } from '../core/errors.ts'
import type { EventSchema } from '../metadata/typed/metadata.ts'
import type { SteadyClock } from '../support/time/clock.ts'
import type { WireEvent } from './events.ts'
import type { FailedRequest } from './rejection.ts'

/** The accepted events of a call. */
export interface PublishReceipt {
  /** Ids of the events, in the caller's order. */
  readonly ids: readonly string[]
  readonly count: number
  /** Event Grid's `x-ms-request-id`; several, joined by commas, where the call took several requests. */
  readonly requestId: string | undefined
}

export interface PublishCall {
  readonly schema: EventSchema
  readonly load: Load
  /** The context of its span; `undefined` without one. */
  readonly context: Context | undefined
  /** The events, request by request. One request unless the events are too many or too large for one. */
  readonly requests: readonly (readonly WireEvent[])[]
  /** When the call began, by `elapsed` of the clock. */
  readonly startedAt: number
  /** When the call gives up, by `elapsed` of the clock. */
  readonly deadline: number
  readonly receipt: Promise<PublishReceipt>
  readonly done: { requests: number; requestIds: string[] }
  /** Attempts of its present request so far, that under way included. */
  attempts: number
  /** Of its present request. */
  lastFailure: FailedRequest | undefined
  /** Resolved, rejected or aborted: its events are not sent again. */
  readonly settled: boolean
  resolve(): void
  reject(error: BindingError): void
}

export interface PublishCallOptions extends Pick<PublishCall, 'schema' | 'load' | 'context'> {
  readonly events: readonly WireEvent[]
  readonly limits: RequestBounds & { readonly publishTimeoutMs: number }
  readonly clock: SteadyClock
  readonly signal: AbortSignal | undefined
  /** The error of a call whose time is over. */
  readonly explainTimeout: (call: PublishCall) => BindingError
  /** Runs where the call ended by its deadline or its signal. The call is rejected already. */
  readonly onGone: (call: PublishCall) => void
  /** Runs once, when the call is settled. */
  readonly onSettled: (call: PublishCall) => void
}

/** Makes a call, which watches its deadline and its signal until it is settled. */
export function createCall(options: PublishCallOptions): PublishCall {
  const { schema, events, load, context, limits, clock, signal } = options
  const { promise, resolve, reject } = Promise.withResolvers<PublishReceipt>()
  const startedAt = clock.elapsed()
  const settle = (end: () => void) => {
    if (call.settled) return
    call.settled = true
    callOff()
    signal?.removeEventListener('abort', onAbort)
    end()
    options.onSettled(call)
  }
  const call: PublishCall & { settled: boolean } = {
    schema,
    requests: splitCall(events, limits),
    context,
    load,
    startedAt,
    deadline: startedAt + limits.publishTimeoutMs,
    receipt: promise,
    done: { requests: 0, requestIds: [] },
    attempts: 0,
    lastFailure: undefined,
    // A getter would cost a tenth of the processor time of a create: V8 then gives each call a class of its own, and keeps the call.
    settled: false,
    resolve() {
      const requestId = call.done.requestIds.join(',') || undefined
      settle(() => resolve({ ids: events.map(({ id }) => id), count: events.length, requestId }))
    },
    reject: (error) => settle(() => reject(error)),
  }
  const leave = (error: BindingError) => {
    call.reject(error)
    options.onGone(call)
  }
  const onAbort = () => leave(abortedError(idsOf(call)))
  const callOff = clock.setTimer(limits.publishTimeoutMs, () => leave(options.explainTimeout(call)))
  signal?.addEventListener('abort', onAbort, { once: true })
  return call
}

/** @param details of a call that has events */
export function abortedError(details?: PublishDetails): BindingError {
  const fix = 'the topic may still accept a request that was sent already'
  return new BindingError('ABORTED', { what: 'create was aborted by its signal', fix, details })
}

/** Ids of a call's events: the published ones and the others. */
export function idsOf(call: PublishCall): { readonly published: readonly string[]; readonly ids: readonly string[] } {
  const idsIn = (requests: PublishCall['requests']) => requests.flat().map(({ id }) => id)
  const { requests, done } = call
  return { published: idsIn(requests.slice(0, done.requests)), ids: idsIn(requests.slice(done.requests)) }
}

/** The events of one call in as few requests as hold them, in the caller's order (pure). */
export function splitCall<E extends { readonly bytes: number }>(
  events: readonly E[],
  bounds: RequestBounds,
): readonly (readonly E[])[] {
  const requests: E[][] = []
  let load = noLoad
  for (const event of events) {
    const own = { events: 1, bytes: event.bytes + 1 }
    const last = requests.at(-1)
    load = addLoads(load, own)
    if (last && fits(load, bounds)) last.push(event)
    else {
      requests.push([event])
      load = own
    }
  }
  return requests
}

/** How a joint request ended: every call is settled, or the halves of the request are to be sent separately. */
export type SendOutcome = 'settled' | 'halve'

/** What sends the requests of the queue. */
interface RequestSender {
  /** Sends calls in one request, or one call in several. Never rejects. */
  send(calls: readonly PublishCall[]): Promise<SendOutcome>
  /** Whether a request waits for its next attempt. */
  isBackingOff(): boolean
}

/** The waiting calls and the requests under way. */
export function createRequestQueue(
  limits: RequestBounds & { readonly maxRequests: number },
  { send, isBackingOff }: RequestSender,
) {
  /** In order of arrival. */
  const waiting: PublishCall[] = []
  /** Halves of refused requests. They are sent first and never joined again. */
  const halves: (readonly PublishCall[])[] = []
  /** The calls of each request under way. */
  const running: (readonly PublishCall[])[] = []
  const idlers: (() => void)[] = []
  /** Requests that have just ended: their callers may call again within this tick, and join those that wait. */
  let settling = 0
  /** Of the waiting calls. */
  let load = noLoad

  const dequeue = (start: number, count: number) => {
    for (const call of waiting.splice(start, count)) load = takeLoad(load, call.load)
  }

  const next = (): readonly PublishCall[] | undefined => {
    const half = halves.shift()
    if (half) return half
    // Calls wait for the request under way and share the next one, unless they fill one already.
    if (running.some(isJoint) && fits(load, limits)) return undefined
    const calls = joinCalls(waiting, limits)
    if (calls.length === 0) return undefined
    dequeue(0, calls.length)
    return calls
  }

  const run = async (calls: readonly PublishCall[]) => {
    running.push(calls)
    try {
      if ((await send(calls)) === 'halve') {
        // A joint request has two calls at least.
        const middle = Math.ceil(calls.length / 2)
        halves.push(calls.slice(0, middle), calls.slice(middle))
      }
    } finally {
      running.splice(running.indexOf(calls), 1)
      settling += 1
      process.nextTick(() => {
        settling -= 1
        pump()
      })
    }
  }

  const pump = () => {
    if (settling > 0) return
    // A topic that throttles one request throttles a parallel one as well.
    while (running.length < limits.maxRequests && (running.length === 0 || !isBackingOff())) {
      const calls = next()
      if (!calls) break
      void run(calls)
    }
    if (running.length === 0 && waiting.length === 0) {
      for (const idler of idlers.splice(0)) idler()
    }
  }

  return {
    /** Appends a call. The call is sent at once if nothing is under way. */
    add(call: PublishCall): void {
      waiting.push(call)
      load = addLoads(load, call.load)
      pump()
    },
    /** Takes back a call. After an abort the calls that waited for its request need not wait any longer. */
    remove(call: PublishCall): void {
      const index = waiting.indexOf(call)
      if (index !== -1) dequeue(index, 1)
      // Others of the same connection or signal may go in this turn: nothing of theirs is to be sent.
      queueMicrotask(pump)
    },
    /** The calls that are not settled: waiting calls, and calls under way. */
    open: () => [...running, ...halves, waiting].flat().filter(({ settled }) => !settled),
    /** Resolves when nothing waits and nothing is under way. */
    idle: () =>
      new Promise<void>((resolve) => {
        idlers.push(resolve)
        pump()
      }),
  }
}

/** A call in several requests takes long: other calls do not wait for such a call, nor for a request whose callers have all gone. */
const isJoint = (calls: readonly PublishCall[]) =>
  calls.some(({ requests, done, settled }) => requests.length === 1 && (done.requests === 1 || !settled))

/**
 * Takes calls from the head of the queue, in order, while they are of one schema and fit into one request together (pure): at least one
 * where any waits. A call that exceeds a request on its own is taken alone.
 */
export function joinCalls<C extends { readonly schema: string; readonly load: Load }>(
  waiting: Iterable<C>,
  bounds: RequestBounds,
): readonly C[] {
  const calls: C[] = []
  let load = noLoad
  for (const call of waiting) {
    const grown = addLoads(load, call.load)
    const first = calls[0]
    if (first !== undefined && (first.schema !== call.schema || !fits(grown, bounds))) break
    calls.push(call)
    load = grown
  }
  return calls
}

/** What one request may hold. */
export interface RequestBounds {
  readonly maxRequestBytes: number
  readonly maxRequestEvents: number
}

/** What the events of a call, of a request or of a queue take. */
export interface Load {
  readonly events: number
  /** Bytes of UTF-8 JSON, with a comma or a bracket behind each event. */
  readonly bytes: number
}

export const noLoad: Load = { events: 0, bytes: 0 }

export const loadOf = (events: readonly { readonly bytes: number }[]): Load => ({
  events: events.length,
  bytes: events.reduce((sum, { bytes }) => sum + bytes + 1, 0),
})

export const addLoads = (one: Load, other: Load): Load => ({
  events: one.events + other.events,
  bytes: one.bytes + other.bytes,
})

export const takeLoad = (from: Load, part: Load): Load => ({
  events: from.events - part.events,
  bytes: from.bytes - part.bytes,
})

/** Does a load fit into one request? The brackets do not count, so that an event of the maximum size fits. */
const fits = (load: Load, bounds: RequestBounds): boolean =>
  load.events <= bounds.maxRequestEvents && load.bytes <= bounds.maxRequestBytes + 1
