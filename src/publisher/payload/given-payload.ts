/** What a caller may give as a payload: which values are bytes, the kind of any value in a word, and the error of one to refuse. */
import { types } from 'node:util'
import { BindingError, type PayloadDetails } from '../../core/errors.ts'

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
