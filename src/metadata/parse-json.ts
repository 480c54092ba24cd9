import { BrokenRule } from './broken-rule.ts'

/**
 * The value of a JSON text.
 *
 * @throws BrokenRule, without the parser's own message: that quotes the text, which may be secret
 */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new BrokenRule('must be valid JSON')
  }
}
