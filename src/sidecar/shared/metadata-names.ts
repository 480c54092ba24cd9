/** Bound on the metadata names of one `create`, counted on the bytes of the call: to decode so many stops the process for seconds. */
import type { MethodDefinition, ServiceDefinition } from '@grpc/proto-loader'
import { BindingError } from '../../core/errors.ts'
import { maxMetadataNames } from '../../publisher/payload.ts'

/** What is wrong with more of them. */
export const tooManyNames = `the metadata of the call has more than ${maxMetadataNames} names`

/** What is decoded of a message with more of them. */
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
