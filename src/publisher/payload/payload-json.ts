/** JSON of a payload: parsed where it does not nest too deep, and written where it would silently lose nothing. */
import { types } from 'node:util'
import type { BindingError } from '../../core/errors.ts'
import { nestsDeeper } from '../../support/text/json-text.ts'
import { asBytes, invalidPayload, kindOf } from './given-payload.ts'

/** Deepest nesting: far below what exhausts the stack of JSON.stringify. */
const maxDepth = 1_000

/**
 * `JSON.parse`, where the text does not nest too deep.
 *
 * @param reviver as that of `JSON.parse`
 * @throws SyntaxError when the text is no JSON; RangeError when it nests deeper than {@link maxDepth}
 */
export function parseJson(text: string, reviver?: (key: string, value: unknown) => unknown): unknown {
  // Each level takes two characters at least.
  if (text.length > 2 * maxDepth && nestsDeeper(Buffer.from(text), maxDepth)) {
    throw new RangeError(`nested deeper than ${maxDepth} levels`)
  }
  return JSON.parse(text, reviver)
}

/** `JSON.rawJSON` is in every Node this package runs on, but not yet in the type library it is compiled with. */
const json: JSON & { rawJSON?(text: string): unknown } = JSON

/**
 * {@link parseJson} with raw JSON for each number that JavaScript would write otherwise, such as 1.0 or an integer of twenty digits:
 * `JSON.stringify` writes it as it was.
 */
export const parseExactJson = (text: string): unknown => parseJson(text, keepNumber)

/** @param context ECMAScript: JSON.parse source text access */
function keepNumber(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  const source = context?.source
  if (typeof value !== 'number' || source === undefined || json.rawJSON === undefined) return value
  return String(value) === source ? value : json.rawJSON(source)
}

interface Loss {
  readonly what: string
  readonly fix: string
}

const plainData = 'give plain JSON data'

/**
 * The JSON text of a value, by the rules of `JSON.stringify`, `toJSON` included. `lift` may give another value for the payload, and for
 * each element where that is an array.
 *
 * @throws BindingError PAYLOAD_INVALID where JSON would leave something out or make `{}` or null of it, with its place; and where
 *   JSON has no form for the value
 */
export function jsonOf(payload: unknown, lift: (value: unknown) => unknown): string {
  let loss: Loss | undefined
  let key = ''
  const write = (holder: unknown, name: string, given: unknown): unknown => {
    const isTop = given === payload || (holder === payload && Array.isArray(payload))
    const value = isTop ? lift(given) : given
    const found = lossOf(value) ?? lossBefore(value, holder, name)
    if (found === undefined) return value
    loss = found
    key = name
    throw new TypeError('lost')
  }
  let text: string | undefined
  try {
    text = JSON.stringify(payload, function (this: unknown, name, value: unknown) {
      return write(this, name, value)
    })
  } catch (error) {
    if (loss !== undefined) throw lost(loss, placeOf(payload, write) ?? key)
    throw invalidPayload(`the payload can't be turned into JSON: ${reasonOf(error)}`, plainData)
  }
  if (text === undefined) throw invalidPayload(`JSON cannot express the payload, ${kindOf(payload)}`, plainData)
  return text
}

/** Where it was: the value is walked once more, now with the place of each object, which costs too much for every payload. */
function placeOf(
  payload: unknown,
  write: (holder: unknown, name: string, value: unknown) => unknown,
): string | undefined {
  const places = new Map<unknown, string>()
  let at: string | undefined
  try {
    JSON.stringify(payload, function (this: unknown, name, given: unknown) {
      const parent = places.get(this)
      const step = Array.isArray(this) ? `[${name}]` : parent === '' ? name : `.${name}`
      at = parent === undefined ? '' : parent + step
      const value = write(this, name, given)
      if (typeof value === 'object' && value !== null) places.set(value, at)
      return value
    })
    return undefined
  } catch {
    return at
  }
}

/** Why JSON.stringify threw. Its own messages name keys only. Errors of a getter or `toJSON` may hold secrets, so they are left out. */
function reasonOf(error: unknown): string {
  const own = 'a getter or toJSON of it failed'
  // Native errors only: reading another object may run code of the caller.
  if (!types.isNativeError(error)) return own
  if (error instanceof RangeError) return 'it is nested too deeply or too large'
  if (!(error instanceof TypeError)) return own
  if (/circular/i.test(error.message)) return 'it is circular, it contains itself'
  return /BigInt/i.test(error.message) ? 'it holds a BigInt' : own
}

function lossOf(value: unknown): Loss | undefined {
  if (typeof value === 'number' && !Number.isFinite(value)) return { what: 'NaN or an infinity', fix: plainData }
  if (typeof value === 'function' || typeof value === 'symbol') return { what: kindOf(value), fix: plainData }
  if (typeof value !== 'object' || value === null) return undefined
  if (Array.isArray(value)) return namedBeside(value, Object.keys(value)[value.length])
  if (types.isNumberObject(value)) return lossOf(Number(value))
  if (types.isStringObject(value) || types.isBooleanObject(value)) return undefined
  if (asBytes(value) !== undefined) {
    return { what: 'bytes', fix: 'write them as base64 text, or give them as the payload' }
  }
  if (types.isPromise(value) || ('then' in value && typeof value.then === 'function')) {
    return { what: 'a promise', fix: 'await the promise, and give the value that it resolves to' }
  }
  if (types.isNativeError(value)) return { what: 'an Error', fix: 'give its message, or what else of it matters' }
  if (Symbol.asyncIterator in value || ('pipe' in value && typeof value.pipe === 'function')) {
    return { what: 'a stream', fix: 'read it to its end, and give what it brought' }
  }
  return (isPlain(value) ? undefined : hiddenContent(value)) ?? namedBeside(value, undefined)
}

/** What JSON does not look at: a member that is named by a symbol, or by a text beside the elements of an array. */
function namedBeside(value: object, name: string | undefined): Loss | undefined {
  const symbol = Object.getOwnPropertySymbols(value).find((each) =>
    Object.prototype.propertyIsEnumerable.call(value, each),
  )
  if (symbol !== undefined) return { what: 'a member whose name is a symbol', fix: 'give it a text as its name' }
  if (name === undefined) return undefined
  return { what: `an array with the member ${JSON.stringify(name)} beside its elements`, fix: plainData }
}

/**
 * An object that keeps what it holds where JSON does not look: a Blob, a Response, a Map, an iterator, a class with private fields or
 * getters alone. One of a kind of JavaScript's own does so whatever fields it was given beside. A class with fields is written by them,
 * whatever it calls itself.
 */
function hiddenContent(value: object): Loss | undefined {
  const kind = Object.prototype.toString.call(value).slice('[object '.length, -1)
  const isOfClass = kind === 'Object' || !(kind in globalThis)
  if (isOfClass && (Object.keys(value).length > 0 || isEmpty(value))) return undefined
  const what = kind === 'Object' ? 'an object of a class, without fields of its own' : `an object of the kind ${kind}`
  const hasBytes = 'arrayBuffer' in value && typeof value.arrayBuffer === 'function'
  return { what, fix: hasBytes ? 'give its bytes: new Uint8Array(await it.arrayBuffer())' : plainData }
}

/** It has nothing, and its class has nothing that could tell what is hidden. */
function isEmpty(value: object): boolean {
  if (Reflect.ownKeys(value).length > 0) return false
  for (let from: unknown = Object.getPrototypeOf(value); isObject(from); from = Object.getPrototypeOf(from)) {
    // The top of the chain is that of all objects, also in another realm.
    if (Object.getPrototypeOf(from) === null) return true
    if (Reflect.ownKeys(from).some((name) => name !== 'constructor')) return false
  }
  return true
}

const isObject = (value: unknown) => typeof value === 'object' && value !== null

/** A literal, also one of another realm. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || prototype === Object.prototype || Object.getPrototypeOf(prototype) === null
}

/** What `toJSON` has hidden: that of a Buffer makes an object of it, that of an invalid Date makes null, and one may give nothing. */
function lossBefore(value: unknown, holder: unknown, key: string): Loss | undefined {
  if (typeof holder !== 'object' || holder === null) return undefined
  if (value === null) {
    const given: unknown = Reflect.get(holder, key)
    const isInvalid = types.isDate(given) && Number.isNaN(Date.prototype.getTime.call(given))
    return isInvalid ? { what: 'an invalid Date', fix: 'give a valid Date, or null' } : undefined
  }
  if (value === undefined && key !== '') {
    const isLost = Reflect.get(holder, key) !== undefined
    if (isLost) return { what: 'a value with a toJSON that returns nothing', fix: plainData }
    return Array.isArray(holder) ? { what: 'undefined in an array', fix: 'give null, or leave it out' } : undefined
  }
  if (typeof value !== 'object' || !('type' in value) || value.type !== 'Buffer') return undefined
  return Buffer.isBuffer(Reflect.get(holder, key)) ? lossOf(Reflect.get(holder, key)) : undefined
}

function lost({ what, fix }: Loss, place: string): BindingError {
  const at = place === '' ? '' : ` at ${JSON.stringify(place.slice(0, 200))}`
  return invalidPayload(`the payload holds ${what}${at}, which JSON cannot express`, fix)
}
