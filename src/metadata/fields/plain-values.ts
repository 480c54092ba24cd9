/** The plain kinds of values: words, whole numbers, lists and durations such as `25s`. */
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
  /** Whether it has to be a whole number of this unit. @default false */
  readonly isWhole?: boolean
}

/**
 * A duration as Dapr writes it (Go's form): `25s`, `2m`, `1h30m`, `1.5s`, `500ms`. Gives milliseconds, rounded.
 *
 * @throws BrokenRule for a text of another form, or a duration outside the limits
 */
export function parseDuration(text: string, limits: DurationLimits): number {
  if (isDuration(text, limits)) return inMilliseconds(text)
  const { atLeast, atMost, unit = 's', isWhole } = limits
  const wholes = unit === 's' ? 'whole seconds, ' : 'whole minutes, '
  const rule = `must be a duration of ${isWhole ? wholes : ''}${atLeast} to ${atMost}`
  if (!Number.isNaN(inMilliseconds(text))) throw new BrokenRule(rule)
  const meant = /^\d{1,9}(\.\d{1,9})?$/.test(text) ? withUnit(Number(text), limits) : undefined
  const fix = meant === undefined ? 'write a number with its unit' : 'give it a unit'
  throw new BrokenRule(rule, `${fix}, as in "${meant ?? atMost}"`)
}

function isDuration(text: string, { atLeast, atMost, unit = 's', isWhole = false }: DurationLimits): boolean {
  const ms = inMilliseconds(text)
  const isWithin = ms >= inMilliseconds(atLeast) && ms <= inMilliseconds(atMost)
  return isWithin && !(isWhole && ms % inMilliseconds(`1${unit}`) > 0)
}

/** Nobody means fewer milliseconds by a number without a unit. */
const leastInMs = 100

/** A bare number with the first unit that keeps the limits: 5000 is milliseconds where 5,000 seconds are too long. */
function withUnit(number: number, limits: DurationLimits): string | undefined {
  const inMs = number % 1000 === 0 ? `${number / 1000}s` : `${number}ms`
  const readings = [`${number}${limits.unit ?? 's'}`, `${number}s`, ...(number < leastInMs ? [] : [inMs]), `${number}m`]
  return readings.find((reading) => isDuration(reading, limits))
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
