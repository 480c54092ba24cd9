/** Whether a payload is JSON, text or bytes. */
import { isDeepStrictEqual } from 'node:util'
import { BindingError } from '../../core/errors.ts'
import { decodedData } from '../../core/event.ts'
import { asBytes, invalidPayload } from './given-payload.ts'
import { jsonOf, parseJson } from './payload-json.ts'

/** A copy of the payload: later changes by the caller have no effect. */
export type Payload =
  /** `value` is `JSON.parse(text)`. Long numbers are exact in the text only. */
  | { readonly kind: 'json'; readonly text: string; readonly value: unknown }
  /** Text other than a JSON object or array. */
  | { readonly kind: 'text'; readonly text: string }
  /** Bytes other than a JSON object or array. */
  | { readonly kind: 'bytes'; readonly bytes: Buffer }

/**
 * Takes a payload of `create` as the caller gave it: text and bytes (`Buffer`, `ArrayBuffer`, any typed array) that parse to an object or
 * array are that; everything else goes by the rules of `JSON.stringify`, except that what JSON would silently lose is refused
 * (payload-json.ts). The one place for bytes inside an object is the `data` of a CloudEvent, which becomes `data_base64`.
 *
 * @throws BindingError PAYLOAD_INVALID
 */
export function readPayload(payload: unknown): Payload {
  if (payload === undefined)
    throw invalidPayload('the payload is missing', 'give an event, or data to make one of; null is data too')
  if (typeof payload === 'string') return structured(payload) ?? { kind: 'text', text: payload }
  const bytes = asBytes(payload)
  if (bytes === undefined) return parsed(jsonOf(payload, liftBinaryData))
  if (bytes.length === 0) throw invalidPayload('the payload is empty', 'give an event, or data to make one of')
  const text = asUtf8(bytes)
  const value = text === undefined ? undefined : structured(text)
  return value ?? { kind: 'bytes', bytes: Buffer.from(bytes) }
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** The text that bytes are, without a byte order mark; `undefined` where they are no UTF-8. */
function asUtf8(bytes: Buffer): string | undefined {
  try {
    return utf8.decode(bytes)
  } catch {
    return undefined
  }
}

/** The object or array that a text holds, if it holds one. A byte order mark is no part of it. */
function structured(text: string): Payload | undefined {
  if (!/^\ufeff?[ \t\r\n]*[[{]/.test(text)) return undefined
  try {
    return parsed(text.replace(/^\ufeff/, ''))
  } catch (error) {
    if (error instanceof BindingError) throw error
    return undefined
  }
}

/** @throws SyntaxError when the text is no JSON; BindingError when it nests too deep */
function parsed(text: string): Payload {
  try {
    const value = parseJson(text)
    // Half of a surrogate pair can't be sent as UTF-8, and can stand in a string only.
    const sendable = text.isWellFormed()
      ? text
      : text.replace(/\p{Cs}/gu, (half) => `\\u${half.charCodeAt(0).toString(16)}`)
    return { kind: 'json', text: sendable, value }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw invalidPayload(`the payload is ${error.message}`, 'flatten it, or send it as text within data')
  }
}

/**
 * A CloudEvent whose `data` is bytes, as other SDKs write it, with `data_base64` instead. One that a handler got has both: its decoded `data`
 * is left out.
 */
function liftBinaryData(event: unknown): unknown {
  if (typeof event !== 'object' || event === null || !('specversion' in event) || !('data' in event)) return event
  if ('toJSON' in event) return event
  const { data, ...rest } = event
  if (Object.hasOwn(rest, 'data_base64')) return isDeepStrictEqual(data, decodedData(rest)) ? rest : event
  const bytes = asBytes(data)
  return bytes === undefined ? event : { ...rest, data_base64: bytes.toString('base64') }
}
