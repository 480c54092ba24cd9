import { BrokenRule } from './broken-rule.ts'

const unitsInMs = new Map([
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
  ['ms', 1],
])

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
  if (ms === undefined) {
    const isNumber = /^\d{1,9}$/.test(text)
    throw new BrokenRule(
      rule,
      isNumber ? `give it a unit, as in ${text}${limits.unit ?? 's'}` : 'write it like 25s, 2m or 1h30m',
    )
  }
  const [least, most] = [inMilliseconds(limits.atLeast), inMilliseconds(limits.atMost)]
  if (least === undefined || most === undefined) throw new Error('a limit is not a duration')
  if (ms < least || ms > most) throw new BrokenRule(rule)
  return ms
}

function inMilliseconds(text: string): number | undefined {
  if (!/^(\d{1,9}(\.\d{1,9})?(h|ms|m|s))+$/.test(text)) return undefined
  let sum = 0
  for (const [, amount, unit] of text.matchAll(/(\d{1,9}(?:\.\d{1,9})?)(h|ms|m|s)/g)) {
    sum += Number(amount) * (unitsInMs.get(unit ?? '') ?? Number.NaN)
  }
  return Math.round(sum)
}
