/** Durations as tests write them, `250ms`, `10s`, `1h30m`, as milliseconds. */

const units: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** The form of a duration: whole numbers, each with its unit. */
export const durationForm = /^(?:\d{1,9}(?:ms|s|m|h|d))+$/

/**
 * The milliseconds of a duration. Throws a RangeError for a text of another form, and for one that is over the limit.
 *
 * @param name of the field, for the error
 * @param most as a duration
 */
export function durationMs(name: string, text: string, most: string): number {
  if (!durationForm.test(text)) throw new RangeError(`${name} must be a duration, such as 10s or 1h30m`)
  const ms = sum(text)
  if (ms > sum(most)) throw new RangeError(`${name} must be ${most} or less`)
  return ms
}

const sum = (text: string): number =>
  [...text.matchAll(/(\d{1,9})(ms|s|m|h|d)/g)].reduce(
    (ms, [, count, unit = '']) => ms + Number(count) * (units[unit] ?? 0),
    0,
  )
