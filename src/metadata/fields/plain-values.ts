// Words in any letter case, whole numbers, lists, durations like `25s`: "must be one of …", missing-unit hint.
import { z } from 'zod'
import { readJson } from '../../support/text/json-text.ts'
import { didYouMean } from '../../support/text/nearest-name.ts'
import { BrokenRule } from './broken-rule.ts'

/**
 * One of a few words, compared without regard to letter case; gives the word as we spell it.
 *
 * @throws BrokenRule that names them all, and the nearest
 */
export function parseChoice<const Word extends string>(text: string, words: readonly Word[]): Word {
  const found = words.find((word) => word.toLowerCase() === text.toLowerCase())
  if (found !== undefined) return found
  throw new BrokenRule(`must be ${words.length > 1 ? 'one of ' : ''}${words.join(', ')}`, didYouMean(text, words))
}

/**
 * A whole number in plain digits: no sign, no leading zero.
 *
 * @param what the word for it in the rule
 * @throws BrokenRule for any other text, and for a number outside the limits
 */
export function parseInteger(text: string, atLeast: number, atMost: number, what = 'whole number'): number {
  const value = /^(0|[1-9]\d{0,14})$/.test(text) ? Number(text) : Number.NaN
  if (value >= atLeast && value <= atMost) return value
  throw new BrokenRule(`must be a ${what} from ${atLeast} to ${atMost}, without sign or leading zero`)
}

/**
 * A list: texts between commas, or a JSON array of strings (needed where an item holds a comma). Items are trimmed
 * between commas and kept as they are in JSON.
 *
 * @throws BrokenRule where it is empty, holds an empty item, or is JSON of another form
 */
export function parseList(text: string): readonly string[] {
  const items = text.trimStart().startsWith('[') ? jsonItems(text) : text.split(',').map((item) => item.trim())
  if (items.length === 0) throw new BrokenRule('must hold at least one item', 'leave the field out instead')
  if (items.includes('')) throw new BrokenRule('must not hold an empty item')
  return items
}

function jsonItems(text: string): readonly string[] {
  const items = z.array(z.string()).safeParse(readJson(text))
  if (!items.success) throw new BrokenRule('must be a JSON array of strings', 'write it like ["one", "two"] or one,two')
  return items.data
}

const unitsInMs = new Map(Object.entries({ h: 3_600_000, m: 60_000, s: 1000, ms: 1 }))

interface DurationLimits {
  readonly atLeast: string
  readonly atMost: string
  /** The unit that is proposed where the text has none. @default 's' */
  readonly unit?: 's' | 'm'
}

/**
 * A duration as Dapr writes it (Go's form): `25s`, `2m`, `1h30m`, `1.5s`, `500ms`. Gives milliseconds, rounded.
 *
 * @throws BrokenRule for a text of another form, or a duration outside the limits
 */
export function parseDuration(text: string, limits: DurationLimits): number {
  const ms = inMilliseconds(text)
  const rule = `must be a duration of ${limits.atLeast} to ${limits.atMost}`
  if (ms >= inMilliseconds(limits.atLeast) && ms <= inMilliseconds(limits.atMost)) return ms
  if (!Number.isNaN(ms)) throw new BrokenRule(rule)
  throw new BrokenRule(rule, /^\d{1,9}$/.test(text) ? withUnit(text, limits) : 'write it like 25s, 2m or 1h30m')
}

/** A bare number with the first unit that is within the limits: 5000 is milliseconds where 5,000 seconds are too long. */
function withUnit(number: string, { atLeast, atMost, unit = 's' }: DurationLimits): string {
  const isWithin = (text: string) =>
    inMilliseconds(text) >= inMilliseconds(atLeast) && inMilliseconds(text) <= inMilliseconds(atMost)
  const meant = [unit, 's', 'ms', 'm'].map((one) => `${Number(number)}${one}`).find(isWithin)
  if (meant === undefined) return 'give it a unit: write it like 25s, 2m or 1h30m'
  const isSeconds = meant.endsWith('ms') && Number(number) % 1000 === 0
  return `give it a unit, as in "${isSeconds ? `${Number(number) / 1000}s` : meant}"`
}

/** `NaN` for a text of another form. */
function inMilliseconds(text: string): number {
  if (!/^(\d{1,9}(\.\d{1,9})?(h|ms|m|s))+$/.test(text)) return Number.NaN
  let sum = 0
  for (const [, amount, unit] of text.matchAll(/(\d{1,9}(?:\.\d{1,9})?)(h|ms|m|s)/g)) {
    sum += Number(amount) * (unitsInMs.get(unit ?? '') ?? Number.NaN)
  }
  return Math.round(sum)
}
