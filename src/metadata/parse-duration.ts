import { BrokenRule } from './broken-rule.ts'

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
  const isNumber = /^\d{1,9}$/.test(text)
  const fix = isNumber ? `give it a unit, as in ${text}${limits.unit ?? 's'}` : 'write it like 25s, 2m or 1h30m'
  throw new BrokenRule(rule, fix)
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
