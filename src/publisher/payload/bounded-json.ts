/** JSON of a payload, parsed where it does not nest too deep. */
import { nestsDeeper } from '../../support/text/json-text.ts'

/** Deepest nesting: far below what exhausts the stack of JSON.stringify. */
export const maxDepth = 1_000

/**
 * `JSON.parse`, where the text does not nest too deep.
 *
 * @param reviver as that of `JSON.parse`
 * @throws SyntaxError when the text is no JSON; RangeError when it nests deeper than {@link maxDepth}
 */
export function parseJson(text: string, reviver?: (key: string, value: unknown) => unknown): unknown {
  // Each level takes two characters at least.
  if (text.length > 2 * maxDepth && nestsDeeper(Buffer.from(text), maxDepth)) {
    throw new RangeError(`nested deeper than ${maxDepth} levels`)
  }
  return JSON.parse(text, reviver)
}
