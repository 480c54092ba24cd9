/** A call of Dapr's `Invoke`: its data as a payload of `create`, how long its caller waits, and how many names its metadata may have. */
import type { EventEmitter } from 'node:events'
import type { MethodDefinition, ServiceDefinition } from '@grpc/proto-loader'
import { BindingError } from '../../core/errors.ts'
import { maxMetadataNames } from '../../publisher/payload.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * The payload of an `Invoke`: bytes that are UTF-8 become text. Callers of Dapr's HTTP API send JSON, and Dapr passes it on: a string with
 * its quotes, no data as `null`. So a JSON string, number, boolean or `null` is parsed, except a number that JavaScript would round.
 * Objects and arrays stay text: the binding parses them without loss.
 */
export function invokePayload(data: Buffer): unknown {
  if (data.length === 0) return data
  let text: string
  try {
    text = utf8.decode(data)
  } catch {
    return data
  }
  // The first characters of a string, a number, true, false and null.
  if (!/^["\d\-tfn]/.test(text)) return text
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'number' && String(value) !== text ? text : value
  } catch {
    return text
  }
}

/**
 * Runs work with a signal that aborts when nobody waits for its result any more.
 *
 * @param gone the event that says so: `cancelled` of a gRPC call, `close` of the connection of an HTTP request. On
 *   Node 22 an answer that waits behind another one emits no `close` where the connection is reset
 */
export async function whileAwaited<Result>(
  call: EventEmitter & { readonly cancelled?: boolean; readonly destroyed?: boolean },
  gone: 'cancelled' | 'close',
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const controller = new AbortController()
  const abort = () => controller.abort()
  call.once(gone, abort)
  // Before the body was read to its end.
  if (call.cancelled || call.destroyed) abort()
  try {
    return await work(controller.signal)
  } finally {
    // Both events are emitted after the answer, too: then there is nothing to abort.
    call.off(gone, abort)
  }
}

/** What is wrong with more names: to decode them would stop the process for seconds. */
export const tooManyNames = `the metadata of the call has more than ${maxMetadataNames} names`

/** What stands in place of a message with more names. */
const withTooMany = { hasTooManyNames: true } as const

/** A service one of whose methods does not decode messages with too many entries in a map; see {@link refuseTooManyNames}. */
export function boundNames(service: ServiceDefinition, name: string, mapField: number): ServiceDefinition {
  const method: MethodDefinition<object, object> | undefined = service[name]
  if (!method) throw new TypeError(`the service has no method ${name}`)
  const requestDeserialize = (bytes: Buffer): object =>
    hasTooMany(bytes, mapField) ? withTooMany : method.requestDeserialize(bytes)
  return { ...service, [name]: { ...method, requestDeserialize } }
}

/** @throws BindingError PAYLOAD_INVALID for a message that was not decoded for its many names */
export function refuseTooManyNames(request: object): void {
  if (request !== withTooMany) return
  throw new BindingError('PAYLOAD_INVALID', { what: tooManyNames, fix: `give at most ${maxMetadataNames}` })
}

/** Does a field occur more often than that? Of a message that is no protobuf the answer has no meaning: its decoder refuses it. */
function hasTooMany(message: Uint8Array, field: number): boolean {
  let at = 0
  let count = 0
  function varint(): number {
    let value = 0
    for (let scale = 1; at < message.length; scale *= 128) {
      const byte = message[at++] ?? 0
      value += (byte & 0x7f) * scale
      if (byte < 0x80) break
    }
    return value
  }
  while (at < message.length) {
    const tag = varint()
    if (Math.floor(tag / 8) === field && ++count > maxMetadataNames) return true
    const wireType = tag % 8
    if (wireType === 0) varint()
    else if (wireType === 1) at += 8
    else if (wireType === 2) {
      const length = varint()
      at += length
    } else if (wireType === 5) at += 4
    else return false
  }
  return false
}
