/** The message, the name and the system code (`ECONNREFUSED`) of any thrown value. */

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
