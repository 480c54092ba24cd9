/** What a handler's result or error says: whether the event counts as handled, and what the log shows of a failure. */
import { types } from 'node:util'
import { isRejectEvent } from '../core/event.ts'
import type { QuietLog } from '../core/logger.ts'
import { scrub } from '../core/scrub.ts'
import { otherError } from '../core/telemetry.ts'
import { errorInWords, isError, partsOf } from '../support/process/error-code.ts'
import { cut, oneLine } from '../support/text/text.ts'

/** Why the result of a handler counts as a failure: a clause, and the error in the result. */
interface FailedResult {
  readonly what: string
  readonly cause?: unknown
}

/** Members of an array that are looked at: a large one must not hold up other events. */
const maxMembers = 10_000

const whenDone = 'it must return when the event is handled'
const mustThrow = 'it must throw where the event is not handled'

/** Looks at a result itself and, of an array, at its members; at nothing deeper. `undefined` where it may be a success. */
export function failedResult(result: unknown): FailedResult | undefined {
  if (!Array.isArray(result)) return failedValue(result)
  const given: readonly unknown[] = result
  // Not by methods of the array, which may be of a library's own class.
  const members = Array.from({ length: Math.min(given.length, maxMembers) }, (_, index) => given[index])
  const rejection = members.find(isRejection)
  if (rejection) {
    const { reason: cause } = rejection
    return { what: `a settled promise that was rejected (${errorInWords(cause)}); ${mustThrow}`, cause }
  }
  // Every member is looked at, because each promise that rejects later would end the process.
  const [first] = members.flatMap((member) => failedValue(member, 'member') ?? [])
  return first && { ...first, what: `an array that holds ${first.what}` }
}

function failedValue(value: unknown, place?: 'member'): FailedResult | undefined {
  if (!isObject(value)) return undefined
  try {
    // The result itself was awaited.
    if (place === 'member' && typeof Reflect.get(value, 'then') === 'function') {
      // The promises of libraries may begin their work when somebody waits for them, so only Node's own are touched.
      if (types.isPromise(value)) Promise.prototype.then.call(value, undefined, () => {})
      return { what: `a promise that is not awaited; ${whenDone}` }
    }
    if (isError(value)) return { what: `an Error (${errorInWords(value)}); ${mustThrow}`, cause: value }
    const status = isPlain(value) || Reflect.get(value, 'ok') !== false ? undefined : Reflect.get(value, 'status')
    if (typeof status === 'number') return { what: `a Response with the status ${status}; ${mustThrow}` }
    const unfinished = unfinishedWork(value)
    return unfinished === undefined ? undefined : { what: `${unfinished}; ${whenDone}` }
  } catch {
    return { what: 'a value that cannot be read' }
  }
}

/** What `Promise.allSettled` gives of a promise that was rejected. A row of orders may have a `status` too, but has more than that. */
const isRejection = (member: unknown): member is { readonly reason: unknown } =>
  isObject(member) &&
  !types.isProxy(member) &&
  Object.keys(member).join() === 'status,reason' &&
  Reflect.get(member, 'status') === 'rejected'

/** What a handler returned in place of the end of its work: nothing of it has run. `undefined` where the work may be done. */
function unfinishedWork(value: object): string | undefined {
  if (typeof value === 'function') return 'a function that is never called'
  // The answer of an HTTP request that was read to its end is a stream of Node too.
  if (Symbol.asyncIterator in value && Reflect.get(value, 'readableEnded') !== true)
    return 'an async iterable that is never read'
  if (has(value, 'next')) return 'an iterator that is never read'
  return has(value, 'subscribe') ? 'an observable without a subscriber' : undefined
}

const has = (value: object, method: string) => typeof Reflect.get(value, method) === 'function'

/** Made by braces, by `JSON.parse` or without a prototype; not by a class. Plain data may look like a Response, an event's data say. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || (isObject(prototype) && Object.getPrototypeOf(prototype) === null)
}

const isObject = (value: unknown): value is object =>
  (typeof value === 'object' && value !== null) || typeof value === 'function'

/** What a handler threw, as far as it can be read. */
interface Thrown {
  readonly rejected: boolean
  /** `error.type` of the span. */
  readonly type: string
  /** A text from outside for the log. */
  readonly reason: string
}

/** Reads what a handler threw: anything, even an object whose properties throw when they are read. */
export function readThrown(thrown: unknown): Thrown {
  const reason = errorInWords(thrown)
  try {
    if (isError(thrown)) return { rejected: isRejectEvent(thrown), type: String(thrown.name), reason }
  } catch {}
  return { rejected: false, type: otherError, reason }
}

/** Most errors whose stack the log shows at `debug`: the error of the handler, and its causes. Most lines of each stack. */
const maxErrors = 5
const maxLines = 20

/** Where failures are told. */
export interface FailureLog {
  readonly log: QuietLog
  /** Our secrets, which an error of the handler may repeat. Asked when a line is written. @default none */
  readonly secrets?: (() => readonly string[]) | undefined
}

interface Failure {
  /** Of the event. */
  readonly id: string
  readonly error: unknown
  /** What the error says. */
  readonly thrown: Thrown
  /** The time-out was over, of which the log tells. */
  readonly isLate: boolean
}

/** Tells of a failed call: a warning, unless the call is late, and at `debug` the stacks. */
export function logFailure({ id, error, thrown, isLate }: Failure, { log, secrets }: FailureLog): void {
  const { rejected, reason } = thrown
  const message = rejected ? 'the handler rejected an event' : 'the handler failed, so the event is not acknowledged'
  const shown = (text: string) => scrub(text, secrets?.())
  // Cleaned only where the line is written: that takes longer than all else here.
  const fields = () => ({ id: oneLine(id, 120), error: cut(shown(reason), 300) })
  if (!isLate) log.warn(message, fields, oneLine(reason.slice(0, 1_000), 300))
  const stackOf = (one: unknown) => textOf(one).split('\n', maxLines).map(shown).join('\n')
  log.debug(message, () => {
    const [stack, ...causes] = errorAndCauses(error).map(stackOf)
    return { ...fields(), stack, ...(causes.length > 0 && { cause: causes.join('\n') }) }
  })
}

/** Tells of an event whose time is over. Its handler may still run. */
export function logTimeout(id: string, handlerTimeoutMs: number, { log }: FailureLog): void {
  log.warn('the handler did not end in time, so the event is not acknowledged', {
    id: oneLine(id, 120),
    handlerTimeout: `${handlerTimeoutMs / 1_000}s`,
    advice: timeoutAdvice,
  })
}

const timeoutAdvice =
  'make the handler faster, or have it put the work into a queue of its own and return; handlerTimeout is at most 25s with push, ' +
  'and up to 1h with deliveryMode: pull'

/** An error, its causes and the errors in it, the nearest ones first. */
function errorAndCauses(error: unknown): unknown[] {
  const errors = [error]
  try {
    for (const one of errors) {
      if (!isError(one)) continue
      errors.push(...(one.cause === undefined ? [] : [one.cause]), ...partsOf(one).slice(0, maxErrors))
      if (errors.length >= maxErrors) break
    }
  } catch {}
  return errors.slice(0, maxErrors)
}

function textOf(error: unknown): string {
  try {
    return isError(error) ? String(error.stack) : errorInWords(error)
  } catch {
    return 'an error that cannot be read'
  }
}
