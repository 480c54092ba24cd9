/** One call of `create` that waits: its load and requests, its deadline, its abort, and its receipt. */
import type { Context } from '@opentelemetry/api'
import { BindingError } from '../core/errors.ts'
import type { EventSchema } from '../metadata/typed/metadata.ts'
import type { SteadyClock } from '../support/time/clock.ts'
import { addLoads, fits, type Load, noLoad, type RequestBounds } from './limits.ts'
import type { SentRequest } from './topic.ts'
import type { FailedRequest } from './topic-answer.ts'
import type { WireEvent } from './wire-event.ts'

/** The accepted events of a call. */
export interface PublishReceipt {
  /** Ids of the events, in the caller's order. */
  readonly ids: readonly string[]
  readonly count: number
  /** Event Grid's `x-ms-request-id`; several, joined by commas, where the call took several requests. */
  readonly requestId: string | undefined
}

export interface FailedSend {
  readonly answer: FailedRequest
  readonly attempts: number
}

export interface PublishCall {
  readonly schema: EventSchema
  readonly load: Load
  /** The context of its span; `undefined` without one. */
  readonly context: Context | undefined
  /** The events, request by request: one request unless they exceed it. */
  readonly requests: readonly (readonly WireEvent[])[]
  /** When the call began, by `elapsed` of the clock. */
  readonly startedAt: number
  /** When the call gives up, by `elapsed` of the clock. */
  readonly deadline: number
  readonly receipt: Promise<PublishReceipt>
  readonly done: { requests: number; requestIds: string[] }
  /** The attempt under way, by its number. */
  attempt: { readonly number: number; readonly sent: SentRequest } | undefined
  lastFailure: FailedSend | undefined
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
  /** The time is over: the call has to be rejected. */
  readonly onDeadline: (call: PublishCall) => void
  /** The caller ended the wait; the call is rejected already. */
  readonly onAborted: (call: PublishCall) => void
  /** Runs once, when the call is settled. */
  readonly onSettled: (call: PublishCall) => void
}

/** Makes a call. It watches its deadline and its signal until it is settled. */
export function createCall(options: PublishCallOptions): PublishCall {
  const { schema, events, load, context, limits, clock, signal } = options
  const { promise, resolve, reject } = Promise.withResolvers<PublishReceipt>()
  const startedAt = clock.elapsed()
  const settle = (how: () => void) => {
    if (call.settled) return
    call.settled = true
    callOff()
    signal?.removeEventListener('abort', onAbort)
    how()
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
    attempt: undefined,
    lastFailure: undefined,
    // A getter would cost a tenth of the processor time of a create: V8 then gives each call a class of its own, and keeps the call.
    settled: false,
    resolve() {
      const requestId = call.done.requestIds.join(',') || undefined
      settle(() => resolve({ ids: events.map(({ id }) => id), count: events.length, requestId }))
    },
    reject: (error) => settle(() => reject(error)),
  }
  const onAbort = () => {
    call.reject(abortedError())
    options.onAborted(call)
  }
  const callOff = clock.setTimer(limits.publishTimeoutMs, () => options.onDeadline(call))
  signal?.addEventListener('abort', onAbort, { once: true })
  return call
}

/** Why a call fails whose time is over, by what is known now. */
export function failureInTime({ attempt, lastFailure }: PublishCall): FailedSend | undefined {
  if (attempt?.sent.begun() !== 200) return lastFailure
  const answer = { kind: 'unfinished', status: 200, reason: 'no answer in time' } as const
  return { answer, attempts: attempt.number }
}

export function abortedError(): BindingError {
  return new BindingError('ABORTED', {
    what: 'create was aborted by its signal',
    fix: 'the topic may still accept a request that was sent already',
  })
}

/** Ids of a call's events: the published ones and the others. */
export function idsOf(call: PublishCall): { readonly published: readonly string[]; readonly ids: readonly string[] } {
  const idsIn = (requests: PublishCall['requests']) => requests.flat().map(({ id }) => id)
  const { requests, done } = call
  return { published: idsIn(requests.slice(0, done.requests)), ids: idsIn(requests.slice(done.requests)) }
}

/** The events of one call in as few requests as hold them, in the caller's order (pure): one request unless they exceed it. */
export function splitCall<E extends { readonly bytes: number }>(
  events: readonly E[],
  bounds: RequestBounds,
): readonly (readonly E[])[] {
  const requests: E[][] = []
  let last: E[] = []
  let load = noLoad
  for (const event of events) {
    const own = { events: 1, bytes: event.bytes }
    if (last.length === 0 || !fits(addLoads(load, own), bounds)) {
      last = []
      requests.push(last)
      load = noLoad
    }
    last.push(event)
    load = addLoads(load, own)
  }
  return requests
}

export function loadOf(events: readonly WireEvent[]): Load {
  return events.reduce<Load>((load, { bytes }) => addLoads(load, { events: 1, bytes }), noLoad)
}
