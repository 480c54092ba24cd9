/** JSON of a payload with its numbers as they were written. */
import { parseJson } from './bounded-json.ts'

/** The third argument of a reviver (ECMAScript: JSON.parse source text access). */
interface ReviverContext {
  readonly source?: string
}

/** `JSON.rawJSON` is in every Node this package runs on, but not yet in the type library it is compiled with. */
const json: JSON & { rawJSON?(text: string): unknown } = JSON

/**
 * {@link parseJson} with raw JSON for each number that JavaScript would write otherwise, such as 1.0 or an integer of twenty digits:
 * `JSON.stringify` writes it as it was.
 */
export const parseExactJson = (text: string): unknown => parseJson(text, keepNumber)

function keepNumber(_key: string, value: unknown, context?: ReviverContext): unknown {
  const source = context?.source
  if (typeof value !== 'number' || source === undefined || json.rawJSON === undefined) return value
  return String(value) === source ? value : json.rawJSON(source)
}
