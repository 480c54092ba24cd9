/** What any thrown value says: its message, name, system code (`ECONNREFUSED`), or all of it in words. */
import { inspect, types } from 'node:util'

/** The message of an error; a text for any other thrown value, which may even throw when it is read. */
export function messageOf(error: unknown): string {
  try {
    return String(error instanceof Error ? error.message : error)
  } catch {
    return 'an error that cannot be read'
  }
}

/** The name of an error, which holds no secret; the type of any other thrown value. */
export const nameOf = (error: unknown): string => (error instanceof Error ? error.name : typeof error)

/** The code of an error, such as Node's `ECONNREFUSED`; `undefined` where it has none. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}

/** An error, also one of another realm, such as a test runner's sandbox. */
export const isError = (value: unknown): value is Error => value instanceof Error || types.isNativeError(value)

/** Name and message of an error; any other thrown value in short. Never throws. */
export function errorInWords(thrown: unknown): string {
  try {
    if (!isError(thrown)) return valueInWords(thrown)
    return [String(thrown.name), String(thrown.message)].filter((part) => part !== '').join(': ')
  } catch {
    return 'an error that cannot be read'
  }
}

/** No code of the value runs, and of a large one only the beginning is read. */
function valueInWords(thrown: unknown): string {
  if (typeof thrown === 'string') return thrown
  return inspect(thrown, {
    depth: 1,
    customInspect: false,
    breakLength: Number.POSITIVE_INFINITY,
    maxArrayLength: 10,
    maxStringLength: 1_000,
  })
}
