/** A text file is read where it is UTF-8 and holds 1 MiB at most. */
import { isUtf8 } from 'node:buffer'
import { readRegularBytesSync } from '../files/regular-file.ts'
import { messageOf } from '../process/error-code.ts'

const largest = 1_048_576
const readable = 16 * largest

/** The text of a regular file of at most 1 MiB; an Error that says what is wrong with it, without its name. */
export function textOrError(file: string): string | Error {
  try {
    const bytes = readRegularBytesSync(file, readable)
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
