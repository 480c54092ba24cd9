/** Which payloads are bytes, and which bytes are text. */
import { types } from 'node:util'

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

/** The text that bytes are, without a byte order mark; `undefined` where they are no UTF-8. */
export function asUtf8(bytes: Buffer): string | undefined {
  try {
    return utf8.decode(bytes)
  } catch {
    return undefined
  }
}
