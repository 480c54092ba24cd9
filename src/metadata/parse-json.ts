import { readJson } from '../support/json-text.ts'
import { BrokenRule } from './broken-rule.ts'

/**
 * The value of a JSON text.
 *
 * @throws BrokenRule, without the parser's own message: that quotes the text, which may be secret
 */
export function parseJson(text: string): unknown {
  const value = readJson(text)
  if (value === undefined) throw new BrokenRule('must be valid JSON')
  return value
}
