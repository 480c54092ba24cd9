// Text file read: at most 1 MiB, UTF-8 only, pipes allowed.
import { isUtf8 } from 'node:buffer'
import { closeSync, openSync, readSync } from 'node:fs'
import { messageOf } from '../../../support/process/error-code.ts'

const largest = 1_048_576

/** The text of a file of at most 1 MiB, which may be a pipe; an Error that says what is wrong with it, without its name. */
export function textOrError(file: string): string | Error {
  try {
    const bytes = readBytes(file)
    if (bytes.length > largest) return new Error(`is larger than ${largest} bytes`)
    return isUtf8(bytes) ? new TextDecoder().decode(bytes) : new Error('is not UTF-8')
  } catch (error) {
    return new Error(`can't be read: ${messageOf(error)}`, { cause: error })
  }
}

/** Like {@link textOrError}, but throws the Error. */
export function readText(file: string): string {
  const text = textOrError(file)
  if (text instanceof Error) throw text
  return text
}

/** One byte more than the largest file has, at most. */
function readBytes(file: string): Buffer {
  const buffer = Buffer.alloc(largest + 1)
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
}
