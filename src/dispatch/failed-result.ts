/** Which results of a handler tell that its event is not handled: failures that are returned, and work that nobody waits for. */
import { EventEmitter } from 'node:events'
import { types } from 'node:util'
import { isError, readThrown } from './thrown-value.ts'

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
export function failedResult(result: unknown): string | undefined {
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

export const isObject = (value: unknown): value is object =>
  (typeof value === 'object' && value !== null) || typeof value === 'function'
