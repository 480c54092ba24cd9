// JSON parsing that keeps long numbers exact; nesting at most 1,000 levels.
import { nestsDeeper } from '../../support/text/json-text.ts'

/** Deepest nesting: far below what exhausts the stack of JSON.stringify. */
export const maxDepth = 1_000

/** The third argument of a reviver (ECMAScript: JSON.parse source text access). */
interface ReviverContext {
  readonly source?: string
}

/** `JSON.rawJSON` is in every Node this package runs on, but not yet in the type library it is compiled with. */
const json: JSON & { rawJSON?(text: string): unknown } = JSON

/**
 * `JSON.parse`, where the text does not nest too deep.
 *
 * @throws SyntaxError when the text is no JSON; RangeError when it nests deeper than {@link maxDepth}
 */
export function parseJson(text: string): unknown {
  refuseDepth(text)
  return JSON.parse(text)
}

/**
 * The same, with raw JSON for each number that JavaScript would write otherwise, such as 1.0 or an integer of twenty digits:
 * `JSON.stringify` writes it as it was.
 */
export function parseExactJson(text: string): unknown {
  refuseDepth(text)
  return JSON.parse(text, keepNumber)
}

function keepNumber(_key: string, value: unknown, context?: ReviverContext): unknown {
  const source = context?.source
  if (typeof value !== 'number' || source === undefined || json.rawJSON === undefined) return value
  return String(value) === source ? value : json.rawJSON(source)
}

function refuseDepth(text: string): void {
  // Each level takes two characters at least.
  if (text.length > 2 * maxDepth && nestsDeeper(Buffer.from(text), maxDepth)) {
    throw new RangeError(`nested deeper than ${maxDepth} levels`)
  }
}
