// Which results of a handler are no end of its work: functions, generators, streams, observables, emitters, timers, promises in an array.
import { EventEmitter } from 'node:events'
import { types } from 'node:util'

/**
 * What a handler returned in place of the end of its work, in words; `undefined` where its work may be done. Nothing of a generator,
 * function or observable has run, and of a stream, an emitter, a timer or promises in an array nobody knows the end.
 */
export function unfinishedWork(result: unknown): string | undefined {
  const items = itemsOf(result)
  if (!items) return unfinishedItem(result)
  return items.some((item) => unfinishedItem(item) ?? isThenable(item))
    ? `${Array.isArray(result) ? 'an array' : 'a collection'} of work that has not ended`
    : undefined
}

function itemsOf(result: unknown): readonly unknown[] | undefined {
  if (Array.isArray(result)) return result
  return types.isMap(result) || types.isSet(result) ? [...result.values()] : undefined
}

function unfinishedItem(value: unknown): string | undefined {
  if (typeof value === 'function') return 'a function that is never called'
  if (typeof value !== 'object' || value === null) return undefined
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

const isThenable = (value: unknown) => typeof value === 'object' && value !== null && has(value, 'then')

/** Libraries share it, or use the name `@@observable` where nobody has defined it. */
const observable: symbol = Reflect.get(Symbol, 'observable') ?? Symbol.for('observable')

const has = (value: object, method: string) => typeof Reflect.get(value, method) === 'function'
