// Accepted payload values: text, bytes, JSON; refused ones (`Map`, `NaN`, nested bytes).
import { types } from 'node:util'
import { BindingError, type PayloadDetails } from '../../core/errors.ts'
import { parseJson } from './exact-json.ts'
import { kindOf } from './json-kind.ts'

/** A copy of the payload: later changes by the caller have no effect. */
export type Payload =
  /** `value` is `JSON.parse(text)`. Long numbers are exact in the text only. */
  | { readonly kind: 'json'; readonly text: string; readonly value: unknown }
  /** Text other than a JSON object or array. */
  | { readonly kind: 'text'; readonly text: string }
  /** Bytes other than a JSON object or array. */
  | { readonly kind: 'bytes'; readonly bytes: Buffer }

export function invalidPayload(what: string, fix: string, details?: PayloadDetails): BindingError {
  return new BindingError('PAYLOAD_INVALID', { what, fix, details })
}

/**
 * Takes a payload of `create` as the caller gave it: text and bytes (`Buffer`, `ArrayBuffer`, any typed array) that parse to an object or
 * array are that; everything else goes by the rules of `JSON.stringify`, `toJSON` included, except that what JSON would
 * silently lose is refused: promises, `Map`, `Set`, bytes inside an object, invalid `Date`s, `NaN` and infinities. The one place
 * for bytes inside an object is the `data` of a CloudEvent, which becomes `data_base64`.
 *
 * @throws BindingError PAYLOAD_INVALID
 */
export function readPayload(payload: unknown): Payload {
  if (payload === undefined)
    throw invalidPayload('the payload is missing', 'give an event, or data to make one of; null is data too')
  if (typeof payload === 'string') return structured(payload) ?? { kind: 'text', text: payload }
  const bytes = asBytes(payload)
  if (bytes === undefined) return parsed(asJson(payload))
  if (bytes.length === 0) throw invalidPayload('the payload is empty', 'give an event, or data to make one of')
  const text = asUtf8(bytes)
  const value = text === undefined ? undefined : structured(text)
  return value ?? { kind: 'bytes', bytes: Buffer.from(bytes) }
}

/** The object or array that a text holds, if it holds one. */
function structured(text: string): Payload | undefined {
  if (!/^[ \t\r\n]*[[{]/.test(text)) return undefined
  try {
    return parsed(text)
  } catch (error) {
    if (error instanceof BindingError) throw error
    return undefined
  }
}

/** @throws SyntaxError when the text is no JSON; BindingError when it nests too deep */
function parsed(text: string): Payload {
  try {
    return { kind: 'json', text, value: parseJson(text) }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw invalidPayload(`the payload is ${error.message}`, 'flatten it, or send it as text within data')
  }
}

/** The bytes of a value, not copied; `undefined` for other values. A transferred buffer is empty. */
export function asBytes(value: unknown): Buffer | undefined {
  // Not instanceof: with a proxy it runs code of the caller.
  if (!ArrayBuffer.isView(value) && !types.isAnyArrayBuffer(value)) return undefined
  try {
    return ArrayBuffer.isView(value)
      ? Buffer.from(value.buffer, value.byteOffset, value.byteLength)
      : Buffer.from(value)
  } catch {
    return Buffer.alloc(0)
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

function asUtf8(bytes: Buffer): string | undefined {
  try {
    return utf8.decode(bytes)
  } catch {
    return undefined
  }
}

/** The JSON text of a value. Runs the caller's `toJSON` functions. */
function asJson(payload: unknown): string {
  let text: string | undefined
  let loss: Loss | undefined
  try {
    text = JSON.stringify(liftAll(payload), function (this: unknown, key, value: unknown) {
      const what = lossOf(value) ?? lossBeforeToJson(value, this, key)
      if (what === undefined) return value
      loss = { key, what }
      throw new TypeError('lost')
    })
  } catch (error) {
    if (loss) throw lost(loss)
    throw invalidPayload(`the payload can't be turned into JSON: ${reasonOf(error)}`, 'give plain JSON data')
  }
  if (text === undefined)
    throw invalidPayload(`JSON has no form for the payload, ${kindOf(payload)}`, 'give plain JSON data')
  return text
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

function liftAll(payload: unknown): unknown {
  return Array.isArray(payload) && !('toJSON' in payload) ? payload.map(liftBinaryData) : liftBinaryData(payload)
}

/** A CloudEvent whose `data` is bytes, as other SDKs write it, with `data_base64` instead. */
function liftBinaryData(event: unknown): unknown {
  if (typeof event !== 'object' || event === null || !('specversion' in event) || !('data' in event)) return event
  if ('toJSON' in event || Object.hasOwn(event, 'data_base64')) return event
  const bytes = asBytes(event.data)
  if (bytes === undefined) return event
  const { data: _, ...rest } = event
  return { ...rest, data_base64: bytes.toString('base64') }
}

/** What JSON would silently lose, and what to do about it. */
const fixes = {
  bytes: 'write them as base64 text, or give them as the payload',
  'a promise': 'await the promise, and give the value that it resolves to',
  'a Map or Set': 'give plain JSON data',
  'an invalid Date': 'give a valid Date, or null',
  'NaN or an infinity': 'give plain JSON data',
}

interface Loss {
  readonly key: string
  readonly what: keyof typeof fixes
}

function lossOf(value: unknown): Loss['what'] | undefined {
  if (types.isPromise(value)) return 'a promise'
  if (types.isMap(value) || types.isSet(value)) return 'a Map or Set'
  if (asBytes(value) !== undefined) return 'bytes'
  return typeof value === 'number' && !Number.isFinite(value) ? 'NaN or an infinity' : undefined
}

/** The toJSON of a Buffer makes an object of it before a replacer sees it, and that of an invalid Date makes null. */
function lossBeforeToJson(value: unknown, holder: unknown, key: string): Loss['what'] | undefined {
  if (typeof value !== 'object' || typeof holder !== 'object' || holder === null) return undefined
  if (value === null) return isInvalidDate(Reflect.get(holder, key)) ? 'an invalid Date' : undefined
  if (!('type' in value) || value.type !== 'Buffer') return undefined
  return Buffer.isBuffer(Reflect.get(holder, key)) ? 'bytes' : undefined
}

const isInvalidDate = (value: unknown) => types.isDate(value) && Number.isNaN(Date.prototype.getTime.call(value))

function lost({ key, what }: Loss): BindingError {
  return invalidPayload(
    `the payload holds ${what}${key === '' ? '' : ` at ${JSON.stringify(key.slice(0, 64))}`}, which JSON has no form for`,
    fixes[what],
  )
}
