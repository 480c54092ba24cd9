import { closeSync, openSync, readSync } from 'node:fs'
import { messageOf } from '../support/error-code.ts'

const largest = 1_048_576

/**
 * The text of a file of at most 1 MiB, which may be a pipe. Throws an Error that says what is
 * wrong with it, without its name.
 */
export function readText(file: string): string {
  const bytes = readBytes(file)
  if (bytes.length > largest) throw new Error(`is larger than ${largest} bytes`)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (error) {
    throw new Error('is not UTF-8', { cause: error })
  }
}

/** One byte more than the largest file has, at most. */
function readBytes(file: string): Buffer {
  const buffer = Buffer.alloc(largest + 1)
  try {
    const handle = openSync(file, 'r')
    try {
      let length = 0
      for (;;) {
        const read = readSync(handle, buffer, length, buffer.length - length, null)
        if (read === 0) return buffer.subarray(0, length)
        length += read
      }
    } finally {
      closeSync(handle)
    }
  } catch (error) {
    throw new Error(`can't be read: ${messageOf(error)}`, { cause: error })
  }
}
