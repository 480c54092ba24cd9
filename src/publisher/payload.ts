/** What a caller may give as a payload and as metadata of `create`, and the event that is made of data. */
import { isUtf8 } from 'node:buffer'
import { isDeepStrictEqual, types } from 'node:util'
import { BindingError, type PayloadDetails } from '../core/errors.ts'
import { decodedData } from '../core/event.ts'
import type { LogFields } from '../core/logger.ts'
import type { EventSchema } from '../metadata/typed/metadata.ts'
import { parseJson } from '../support/text/json-text.ts'
import { oneLine } from '../support/text/text.ts'

/** A copy of the payload: later changes by the caller have no effect. */
export type Payload =
  /** `value` is `JSON.parse(text)`. Long numbers are exact in the text only. */
  | { readonly kind: 'json'; readonly text: string; readonly value: unknown }
  /** Text other than a JSON object or array. */
  | { readonly kind: 'text'; readonly text: string }
  /** Bytes other than a JSON object or array. */
  | { readonly kind: 'bytes'; readonly bytes: Buffer }

/**
 * Reads the payload of `create`. Text and bytes (`Buffer`, `ArrayBuffer`, any typed array) that parse to an object or array become that
 * object or array. Everything else goes by the rules of `JSON.stringify`, but an object whose content JSON would lose is refused. The one
 * place for bytes inside an object is the `data` of a CloudEvent, which becomes `data_base64`.
 *
 * @throws BindingError PAYLOAD_INVALID
 */
export function readPayload(payload: unknown): Payload {
  if (payload === undefined)
    throw invalidPayload('the payload is missing', 'give an event, or data to make one of; null is data too')
  if (typeof payload === 'string') return structured(payload) ?? { kind: 'text', text: payload }
  const bytes = asBytes(payload)
  if (bytes === undefined) return parsed(jsonOf(payload))
  if (bytes.length === 0) throw invalidPayload('the payload is empty', 'give an event, or data to make one of')
  return (isUtf8(bytes) && structured(bytes.toString())) || { kind: 'bytes', bytes: Buffer.from(bytes) }
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

/** The kind of a JSON value in a word, for a message that must not show the value. */
export function kindOf(value: unknown): string {
  if (value === null) return 'null'
  if (value === undefined) return 'nothing'
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'object') return Object.hasOwn(value, 'rawJSON') ? 'a number' : 'an object'
  return `a ${typeof value}`
}

/** The error of a payload that can't be published. */
export function invalidPayload(what: string, fix: string, details?: PayloadDetails): BindingError {
  return new BindingError('PAYLOAD_INVALID', { what, fix, details })
}

/** The object or array that a text holds; `undefined` for another text. A byte order mark is left out. */
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

const plainData =
  'give plain JSON data: what a promise or a stream brings, and bytes as base64 text or as the whole payload'

/**
 * The JSON text of a value, by the rules of `JSON.stringify`, `toJSON` included.
 *
 * @throws BindingError PAYLOAD_INVALID, with the place in the payload, where JSON would lose an object or has no form for a value
 */
function jsonOf(given: unknown): string {
  const path: (string | number)[] = []
  try {
    const isList = Array.isArray(given) && !('toJSON' in given)
    const payload = isList ? given.map(liftBinaryData) : liftBinaryData(given)
    refuseLost(payload, path, [])
    return JSON.stringify(payload)
  } catch (error) {
    const place = path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`)).join('')
    const at = place === '' ? '' : ` at ${JSON.stringify(place.replace(/^\./, '').slice(0, 200))}`
    throw invalidPayload(`the payload ${reasonOf(error)}${at}`, plainData)
  }
}

/** A value that JSON would lose, or has no form for. */
class LostError extends Error {}

/** Why a payload has no JSON. What a getter or `toJSON` throws may hold secrets, so its text is left out. */
function reasonOf(error: unknown): string {
  // Native errors only: reading another object may run code of the caller.
  if (types.isNativeError(error)) {
    if (error instanceof LostError) return `holds ${error.message}, which JSON cannot express,`
    if (error instanceof RangeError) return 'is nested too deeply, or too large,'
  }
  return 'has a getter or a toJSON that fails'
}

/**
 * Walks through a value as `JSON.stringify` does. Throws at the first value that JSON would make `{}` of, leave out (other than
 * `undefined`), or has no form for; `path` then leads to that value. `above`: the objects around the value.
 */
function refuseLost(given: unknown, path: (string | number)[], above: object[]): void {
  if (Buffer.isBuffer(given)) throw new LostError('bytes')
  const value = replacedByToJson(given, path.at(-1) ?? '')
  if (typeof value === 'function' || typeof value === 'symbol' || typeof value === 'bigint')
    throw new LostError(kindOf(value))
  if (value === undefined && given !== undefined) throw new LostError('a toJSON that returns nothing')
  if (typeof value !== 'object' || value === null) return
  if (above.includes(value)) throw new LostError('an object that contains itself (it is circular)')
  const hidden = hiddenContent(value)
  if (hidden !== undefined) throw new LostError(hidden)
  above.push(value)
  for (const step of Array.isArray(value) ? value.keys() : Object.keys(value)) {
    path.push(step)
    refuseLost(Reflect.get(value, step), path, above)
    path.pop()
  }
  above.pop()
}

/** What `toJSON` gives in place of a value. Some give BigInt one. */
function replacedByToJson(value: unknown, key: string | number): unknown {
  if ((typeof value !== 'object' && typeof value !== 'bigint') || value === null) return value
  const toJson: unknown = Reflect.get(Object(value), 'toJSON')
  return typeof toJson === 'function' ? Reflect.apply(toJson, value, [String(key)]) : value
}

/**
 * The kind of an object whose content JSON does not see: bytes, a Blob, a Map, an Error, a stream, an iterator, a class that has only
 * private fields or getters. `undefined` for any other value. A built-in object (Map, Blob, Error) counts even where it has fields of its
 * own. Of a class with fields JSON writes the fields, whatever the name of the class is.
 */
function hiddenContent(value: object): string | undefined {
  if (Array.isArray(value)) return undefined
  const kind = Object.prototype.toString.call(value).slice('[object '.length, -1)
  if (['Number', 'String', 'Boolean'].includes(kind)) return undefined
  if ('pipe' in value && typeof value.pipe === 'function') return 'a stream'
  if (kind !== 'Object' && kind in globalThis) return `an object of the kind ${kind}`
  if (Object.keys(value).length > 0 || isEmpty(value)) return undefined
  return kind === 'Object' ? 'an object without fields that JSON writes' : `an object of the kind ${kind.slice(0, 100)}`
}

/** The object has no field, and its class has no member that could tell what is hidden. */
const isEmpty = (value: object): boolean => Reflect.ownKeys(value).length === 0 && isBare(Object.getPrototypeOf(value))

/** Have a class and its parents no member of their own? The top of the chain is the class of all objects, also in another realm. */
function isBare(above: unknown): boolean {
  if (typeof above !== 'object' || above === null) return true
  const next: unknown = Object.getPrototypeOf(above)
  return next === null || (Reflect.ownKeys(above).every((name) => name === 'constructor') && isBare(next))
}

/**
 * Writes the bytes in the `data` of a CloudEvent, as other SDKs have them, as `data_base64`. An event that a handler got has both: its
 * decoded `data` is left out.
 */
function liftBinaryData(event: unknown): unknown {
  if (typeof event !== 'object' || event === null || !('specversion' in event) || !('data' in event)) return event
  if ('toJSON' in event) return event
  const { data, ...rest } = event
  if (Object.hasOwn(rest, 'data_base64')) return isDeepStrictEqual(data, decodedData(rest)) ? rest : event
  const bytes = asBytes(data)
  return bytes === undefined ? event : { ...rest, data_base64: bytes.toString('base64') }
}

/** The type of an event made from data, unless the invoke metadata says `type`. */
const defaultEventType = 'eventgrid-binding.create'

/** The subject of an event made from data in the Event Grid schema, which demands one, unless the invoke metadata says `subject`. */
const defaultSubject = 'eventgrid-binding'

/** Defaults for what neither data nor metadata give. */
export interface NewEventContext {
  readonly schema: EventSchema
  /** `source` of a CloudEvent, unless the invoke metadata says it: the topic endpoint without its query. */
  readonly defaultSource: string
  readonly now: () => number
  readonly newId: () => string
}

/**
 * The event that data becomes (pure; docs/publishing.md). Data that is JSON already stays the same, to the byte. The Event Grid schema has
 * no place for `dataschema` and bytes.
 *
 * @param given by {@link readAttributes}
 * @throws BindingError PAYLOAD_INVALID
 */
export function newEvent(payload: Payload, given: ReadonlyMap<string, string>, context: NewEventContext) {
  const id = given.get('id') ?? context.newId()
  const time = given.get('time') ?? new Date(context.now()).toISOString()
  const type = given.get('type') ?? defaultEventType
  const subject = given.get('subject')
  const source = given.get('source')
  const dataschema = given.get('dataschema')
  if (context.schema === 'CloudEventSchemaV1_0') {
    const attributes = {
      specversion: '1.0',
      id,
      source: source ?? context.defaultSource,
      type,
      subject,
      time,
      dataschema,
    }
    return withData({ ...attributes, datacontenttype: mediaTypes[payload.kind] }, payload)
  }
  if (dataschema !== undefined) {
    throw invalidPayload('dataschema has no place in the Event Grid schema', 'leave it out of the invoke metadata')
  }
  if (payload.kind === 'bytes') {
    throw invalidPayload(
      'the payload is bytes other than JSON, which the Event Grid schema has no place for',
      'give JSON or text, or publish to a topic of the CloudEvents schema',
    )
  }
  const attributes = { id, topic: source, subject: subject ?? defaultSubject, eventType: type, eventTime: time }
  return withData({ ...attributes, dataVersion: '1.0' }, payload)
}

const mediaTypes: Readonly<Record<Payload['kind'], string>> = {
  json: 'application/json',
  text: 'text/plain',
  bytes: 'application/octet-stream',
}

/** An event as JSON, and its attributes without the data. */
function withData(attributes: Readonly<Record<string, string | undefined>>, payload: Payload) {
  const data =
    payload.kind === 'bytes'
      ? `"data_base64":"${payload.bytes.toString('base64')}"`
      : `"data":${payload.kind === 'json' ? payload.text : JSON.stringify(payload.text)}`
  return { event: attributes, json: `${JSON.stringify(attributes).slice(0, -1)},${data}}` }
}

/** Names of invoke metadata that have a meaning. */
const metadataNames: ReadonlySet<string> = new Set([
  ...['type', 'source', 'subject', 'id', 'time', 'dataschema', 'traceparent', 'tracestate'],
])

/** Most metadata names of one call: far more than have a meaning. Each costs time, and a caller must not stop everybody else. */
export const maxMetadataNames = 1_000

/**
 * The metadata of a call that has a meaning, by lower-case name: names match without regard to case. An empty value counts as absent.
 *
 * @throws BindingError PAYLOAD_INVALID
 */
export function readAttributes(metadata: Readonly<Record<string, unknown>>): ReadonlyMap<string, string> {
  const names = Object.keys(metadata).length
  if (names > maxMetadataNames) {
    throw invalidPayload(`the metadata of the call has ${names} names`, `give at most ${maxMetadataNames}`)
  }
  const given = new Map<string, string>()
  for (const [key, value] of Object.entries(metadata)) {
    const name = key.toLowerCase()
    if (!metadataNames.has(name) || value === '' || value === undefined) continue
    if (typeof value !== 'string') {
      throw invalidPayload(`metadata ${name} must be a string, not ${kindOf(value)}`, 'write it as text')
    }
    const before = given.get(name)
    // A runtime adds a trace beside the trace of the caller, perhaps in another letter case: the last trace counts.
    if (before !== undefined && before !== value && !ofTrace.has(name)) {
      throw invalidPayload(`metadata ${name} is given twice`, 'give it once; names match without regard to case')
    }
    given.set(name, value)
  }
  return given
}

/** What a caller may have meant otherwise: a warning. */
export interface PayloadDoubt {
  readonly message: string
  readonly fields: LogFields
  /** Doubts of one message with the same word are said once in 30 s; the others are counted. */
  readonly word?: string
}

/** Names that runtimes add by themselves. */
const ofTrace: ReadonlySet<string> = new Set(['traceparent', 'tracestate', 'baggage'])

/** Doubts about names in the metadata of a call that do nothing. Beside a whole event these are all but the trace's. */
export function unusedMetadata(
  metadata: Readonly<Record<string, unknown>>,
  { isWhole }: { readonly isWhole: boolean },
): readonly PayloadDoubt[] {
  return Object.entries(metadata).flatMap(([given, value]) => {
    const lower = given.toLowerCase()
    const isUsed = ofTrace.has(lower) || (!isWhole && metadataNames.has(lower))
    if (isUsed || value === '' || value === undefined) return []
    const name = oneLine(given, 100)
    const fix = isWhole
      ? 'the payload is a whole event, which is published unchanged: write it there, or publish data alone'
      : `create knows ${[...metadataNames].join(', ')}`
    return [{ message: 'a name in the metadata of a create does nothing', fields: { name, fix }, word: name }]
  })
}
