import { UsageError } from './usage-error.ts'

/** The whole number of an option. Throws a UsageError for any other text, and outside the range. */
export function readNumber(
  option: string,
  text: string,
  range: { readonly from: number; readonly to: number },
): number {
  const { from, to } = range
  if (/^\d{1,6}$/.test(text) && Number(text) >= from && Number(text) <= to) return Number(text)
  const complaint = `--${option} takes a number from ${from} to ${to}, not ${JSON.stringify(text)}`
  throw new UsageError(complaint, { showHelp: true })
}

/** What a port may be where 0 takes a free one. */
export const portRange = { from: 0, to: 65_535 } as const
