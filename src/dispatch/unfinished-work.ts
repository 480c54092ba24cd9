/** Which values are no end of a handler's work: functions, generators, streams, observables, emitters, timers. */
import { EventEmitter } from 'node:events'

/**
 * What a handler returned in place of the end of its work, in words; `undefined` where its work may be done. Nothing of a generator,
 * function or observable has run, and of a stream, an emitter or a timer nobody knows the end.
 */
export function unfinishedItem(value: object): string | undefined {
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
