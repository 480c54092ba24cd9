/** One call of the application's handler, and what tells that it failed: what it threw, returned as a failure, or left unfinished. */
import { EventEmitter } from 'node:events'
import { inspect, types } from 'node:util'
import { type EventHandler, isRejectEvent, type ReceivedEvent } from '../core/event.ts'
import type { QuietLog } from '../core/quiet-log.ts'
import { scrub } from '../core/scrub.ts'
import { otherError } from '../core/telemetry/opentelemetry.ts'
import { cut, oneLine } from '../support/text/text.ts'
import type { Processing } from './processing.ts'

/** How a handler call ended. */
export type CallOutcome = 'resolved' | 'rejected' | 'threw'

export interface HandlerReports {
  readonly log: QuietLog
  /** Our secrets, which an error of the handler may repeat. Asked when a line is written. @default none */
  readonly secrets?: (() => readonly string[]) | undefined
}

/**
 * Calls the handler with one event. `onEnd` is called once, before this function returns if the handler is synchronous: an event of a
 * synchronous handler costs no promise.
 */
export function callHandler(
  handler: EventHandler,
  event: ReceivedEvent,
  { log, secrets }: HandlerReports,
  processing: Processing,
  onEnd: (outcome: CallOutcome) => void,
): void {
  // The handler may change the event.
  const { id } = event.cloudEvent
  const resolve = () => {
    processing.end()
    onEnd('resolved')
  }
  const fail = (error: unknown) => {
    const { rejected, type, reason } = readThrown(error)
    const message = rejected ? 'the handler rejected an event' : 'the handler failed, so the event is not acknowledged'
    // Cleaned only where the line is written: that takes longer than all else here.
    const fields = () => ({ id: oneLine(id, 120), error: cut(scrub(reason, secrets?.()), 300) })
    processing.run(() => log.warn(message, fields, oneLine(reason.slice(0, 1_000), 300)), undefined)
    processing.end(type)
    onEnd(rejected ? 'rejected' : 'threw')
  }
  let result: unknown
  try {
    result = processing.run(handler, event)
  } catch (error) {
    fail(error)
    return
  }
  if (isObject(result)) void settle(result, resolve, fail)
  else resolve()
}

/** `await` makes a failure of an object whose `then` throws when it is read. */
async function settle(result: unknown, resolve: () => void, fail: (error: unknown) => void): Promise<void> {
  try {
    const failed = failedResult(await result)
    if (failed !== undefined) throw new TypeError(`the handler returned ${failed}`)
  } catch (error) {
    fail(error)
    return
  }
  resolve()
}

/**
 * Reads what a handler threw: whether it is a `RejectEvent`, its class for `error.type` of its span, and a text from outside for the log.
 * It may be anything, even an object whose properties throw when they are read; reading it must not end the process.
 */
function readThrown(thrown: unknown) {
  try {
    if (!isError(thrown)) return { rejected: false, type: otherError, reason: wordsOf(thrown) }
    const name = String(thrown.name)
    return { rejected: isRejectEvent(thrown), type: name, reason: `${name}: ${String(thrown.message)}` }
  } catch {
    return { rejected: false, type: otherError, reason: 'an error that cannot be read' }
  }
}

/** An error, also one of another realm, such as a test runner's sandbox. */
const isError = (value: unknown): value is Error => value instanceof Error || types.isNativeError(value)

/** No code of the value runs, and of a large one only the beginning is read: with more of it a log line would not get longer. */
function wordsOf(thrown: unknown): string {
  if (typeof thrown === 'string') return thrown
  return inspect(thrown, {
    depth: 1,
    customInspect: false,
    breakLength: Number.POSITIVE_INFINITY,
    maxArrayLength: 10,
    maxStringLength: 1_000,
  })
}

/** Members of a result that are looked at: a large one must not hold up other events. */
const maxMembers = 10_000

/** A part of a result. What is fine in an object that somebody else has made, a function for instance, is not in a list of work. */
interface Part {
  readonly value: object
  readonly place: 'whole' | 'list' | 'object'
}

/**
 * Why a result is no success, as a clause; `undefined` where it may be one. Looks into arrays, Maps, Sets and plain objects at any depth,
 * the outer ones first. No promise within ends the process when it rejects later.
 */
function failedResult(result: unknown): string | undefined {
  if (!isObject(result)) return undefined
  const parts: Part[] = [{ value: result, place: 'whole' }]
  const seen = new Set<object>([result])
  let looked = 0
  let failure: string | undefined
  // The list grows meanwhile.
  for (const part of parts) {
    try {
      const found = failedPart(part)
      if (found !== undefined) failure ??= part.place === 'whole' ? found : `a value that holds ${found}`
      // Of a large object even its names take time.
      if (looked >= maxMembers) continue
      for (const member of membersOf(part.value)) {
        if (++looked > maxMembers) break
        if (!isObject(member) || seen.has(member)) continue
        seen.add(member)
        parts.push({ value: member, place: part.place === 'object' || isPlain(part.value) ? 'object' : 'list' })
      }
    } catch {
      failure ??= 'a value that cannot be read'
    }
  }
  return failure
}

const whenDone = 'it must return when the event is handled'
const mustThrow = 'it must throw where the event is not handled'

function failedPart({ value, place }: Part): string | undefined {
  if (place !== 'whole' && typeof Reflect.get(value, 'then') === 'function') {
    ignoreRejection(value)
    return `a promise that is not awaited; ${whenDone}`
  }
  if (isError(value)) return `an Error (${readThrown(value).reason}); ${mustThrow}`
  const response = responseIn(value)
  if (response) return response.ok ? undefined : `a Response with the status ${response.status}; ${mustThrow}`
  const rejection = rejectionIn(value)
  if (rejection) return `a settled promise that was rejected (${readThrown(rejection.reason).reason}); ${mustThrow}`
  const unfinished = place === 'object' ? undefined : unfinishedItem(value)
  return unfinished && `${unfinished}; ${whenDone}`
}

/** The promises of libraries may begin their work when somebody waits for them, so only Node's own are touched. */
function ignoreRejection(value: object): void {
  if (types.isPromise(value)) Promise.prototype.then.call(value, undefined, () => {})
}

/**
 * Of `fetch`, of a library like it, or of another realm. With some libraries it is a stream or an emitter too, and says by `ok` how it
 * ended. Plain data that looks so, that of an event for instance, is none.
 */
function responseIn(value: object): { readonly ok: boolean; readonly status: number } | undefined {
  if (isPlain(value)) return undefined
  const ok: unknown = Reflect.get(value, 'ok')
  const status: unknown = Reflect.get(value, 'status') ?? Reflect.get(value, 'statusCode')
  const isResponse = typeof ok === 'boolean' && typeof status === 'number' && isObject(Reflect.get(value, 'headers'))
  return isResponse ? { ok, status } : undefined
}

/** The first rejection in what `Promise.allSettled` gives. A list of orders may have a `status` too, but has more than that. */
function rejectionIn(value: object): { readonly reason: unknown } | undefined {
  if (!Array.isArray(value) || !settledAs(value[0])) return undefined
  const ends = value.slice(0, maxMembers).map(settledAs)
  return ends.includes(undefined) ? undefined : ends.find((end) => end?.status === 'rejected')
}

function settledAs(
  member: unknown,
): { readonly status: 'fulfilled' | 'rejected'; readonly reason: unknown } | undefined {
  if (!isObject(member) || !isPlain(member) || Object.keys(member).length !== 2) return undefined
  const { status, reason } = { status: undefined, reason: undefined, ...member }
  const isSettled =
    (status === 'fulfilled' && Object.hasOwn(member, 'value')) ||
    (status === 'rejected' && Object.hasOwn(member, 'reason'))
  return isSettled ? { status, reason } : undefined
}

/**
 * What a handler returned in place of the end of its work, in words; `undefined` where its work may be done. Nothing of a generator,
 * function or observable has run, and of a stream, an emitter or a timer nobody knows the end.
 */
function unfinishedItem(value: object): string | undefined {
  if (typeof value === 'function') return 'a function that is never called'
  if (wasReadToItsEnd(value)) return undefined
  if (Symbol.asyncIterator in value) return 'an async iterable that is never read'
  if (has(value, 'next')) return 'an iterator that is never read'
  if (has(value, 'subscribe') || '@@observable' in value || observable in value)
    return 'an observable without a subscriber'
  if (has(value, 'unsubscribe')) return 'a subscription that has not ended'
  // Of Node: what keeps the process alive until it has ended.
  if (has(value, 'unref')) return 'a timer, process, thread or connection that has not ended'
  if (has(value, 'pipe')) return 'a stream that has not ended'
  // Some clients of databases return one for each query. Not by its methods: documents of Mongoose have them too.
  return value instanceof EventEmitter ? 'an event emitter, whose work may not have ended' : undefined
}

/** Libraries share it, or use the name `@@observable` where nobody has defined it. */
const observable: symbol = Reflect.get(Symbol, 'observable') ?? Symbol.for('observable')

/** A stream of Node: the answer of an HTTP request, for instance. */
const wasReadToItsEnd = (value: object) =>
  Reflect.get(value, 'readableEnded') === true && Reflect.get(value, 'writableFinished') !== false

const has = (value: object, method: string) => typeof Reflect.get(value, method) === 'function'

/** The values that a getter would give are left out: to read them would run code of the application. */
function* membersOf(value: object): Generator<unknown, void> {
  // Not by methods of the value: an array of a library may have others.
  if (Array.isArray(value)) yield* Array.prototype.values.call(value)
  else if (types.isMap(value)) yield* Map.prototype.values.call(value)
  else if (types.isSet(value)) yield* Set.prototype.values.call(value)
  else if (isPlain(value))
    for (const name of Object.keys(value)) yield Object.getOwnPropertyDescriptor(value, name)?.value
}

/** Made by braces, by `JSON.parse` or without a prototype; not by a class. */
function isPlain(value: object): boolean {
  const prototype: unknown = Array.isArray(value) || typeof value === 'function' ? value : Object.getPrototypeOf(value)
  return prototype === null || (isObject(prototype) && Object.getPrototypeOf(prototype) === null)
}

const isObject = (value: unknown): value is object =>
  (typeof value === 'object' && value !== null) || typeof value === 'function'
