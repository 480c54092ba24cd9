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
  // Each level takes two characters at least.
  if (text.length > 2 * maxDepth && nestsDeeper(Buffer.from(text), maxDepth)) {
    throw new RangeError(`nested deeper than ${maxDepth} levels`)
  }
  return JSON.parse(text)
}

/**
 * The result of {@link parseJson} with numbers that JavaScript can't hold as raw JSON, so that `JSON.stringify`
 * writes them unchanged: an integer of twenty digits loses none.
 */
export function exactJson(text: string, parsed: unknown): unknown {
  // A reviver makes parsing several times slower, so it runs only where a number may be rounded.
  return /[\d.]{16}|\d[eE]/.test(text) ? JSON.parse(text, keepLongNumber) : parsed
}

function keepLongNumber(_key: string, value: unknown, context?: ReviverContext): unknown {
  const source = context?.source
  if (typeof value !== 'number' || source === undefined || json.rawJSON === undefined) return value
  return canonicalNumber(source) === canonicalNumber(String(value)) ? value : json.rawJSON(source)
}

/** Sign, digits and exponent of a decimal number, so that 1.50e2 and 150 are one text. */
function canonicalNumber(text: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? []
  if (whole === '') return text
  const digits = `${whole}${fraction}`.replace(/^0+/, '')
  // Without the look behind it takes quadratic time.
  const significant = digits.replace(/(?<!0)0+$/, '')
  if (significant === '') return '0'
  return `${sign}${significant}e${Number(exponent) - fraction.length + digits.length - significant.length}`
}
