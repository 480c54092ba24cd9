import { BrokenRule } from './broken-rule.ts'

/**
 * A whole number in plain digits: no sign, no leading zero.
 *
 * @throws BrokenRule for any other text, and for a number outside the limits
 */
export function parseInteger(text: string, limits: { readonly atLeast: number; readonly atMost: number }): number {
  const value = /^(0|[1-9]\d{0,14})$/.test(text) ? Number(text) : Number.NaN
  if (!(value >= limits.atLeast && value <= limits.atMost)) {
    throw new BrokenRule(
      `must be a whole number from ${limits.atLeast} to ${limits.atMost}, without sign or leading zero`,
    )
  }
  return value
}
