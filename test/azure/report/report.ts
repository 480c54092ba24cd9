/** The report of a run: what holds, what differs and how, what was skipped and why. */
import type { Difference } from '../probes/expectation.ts'

export type Outcome =
  | { readonly outcome: 'holds' }
  | { readonly outcome: 'differs'; readonly differences: readonly Difference[] }
  | { readonly outcome: 'skipped'; readonly reason: string }

export type Result = Outcome & {
  /** Id of the row of the facts table; `product` for what the product itself does. */
  readonly fact: string
  readonly asks: string
  /** Where the expectation is from. */
  readonly source: string
  readonly seconds: number
}

export interface Report {
  readonly version: 1
  readonly place: 'Azure' | 'emulator'
  /** When the run began, in ISO form. */
  readonly date: string
  readonly location: string
  /** Whether Event Grid could push to this run. */
  readonly push: boolean
  readonly results: readonly Result[]
  /** What could not be made, and what could not be deleted. */
  readonly notMade: readonly { readonly what: string; readonly why: string; readonly unsupported: boolean }[]
  readonly notDeleted: readonly { readonly id: string; readonly why: string }[]
  /** Whether the run came to its end. */
  readonly whole: boolean
}

export function countsOf({ results }: Pick<Report, 'results'>) {
  const count = (outcome: Outcome['outcome']) => results.filter((one) => one.outcome === outcome).length
  return { holds: count('holds'), differs: count('differs'), skipped: count('skipped') }
}

/** What a report says of each fact: it holds where all its probes that were asked hold. */
export function seenOf({ results }: Pick<Report, 'results'>): ReadonlyMap<string, 'holds' | 'differs'> {
  const seen = new Map<string, 'holds' | 'differs'>()
  for (const { fact, outcome } of results) {
    if (outcome === 'skipped' || seen.get(fact) === 'differs') continue
    seen.set(fact, outcome)
  }
  return seen
}

/** Whether all that was asked holds, and nothing is left. */
export const isGood = (report: Report): boolean =>
  countsOf(report).differs === 0 &&
  report.whole &&
  report.notDeleted.length === 0 &&
  report.notMade.every(({ unsupported }) => unsupported)

/** The lines for the terminal: what differs first in full, then what was skipped, and the counts last, where they are read. */
export function reportLines(report: Report): readonly string[] {
  const { results, notMade, notDeleted } = report
  const counts = countsOf(report)
  return [
    ...results.flatMap((one) =>
      one.outcome === 'differs'
        ? [
            `differs  ${one.fact}: ${one.asks}`,
            ...one.differences.flatMap(({ path, expected, seen }) => [
              `         ${path === '' ? 'the answer' : path}`,
              `           expected ${expected} (${one.source})`,
              `           seen     ${seen}`,
            ]),
          ]
        : [],
    ),
    ...results.flatMap((one) =>
      one.outcome === 'skipped' ? [`skipped  ${one.fact}: ${one.asks}: ${one.reason}`] : [],
    ),
    ...notMade.map(({ what, why }) => `not made     ${what}: ${why}`),
    ...notDeleted.map(({ id, why }) => `NOT DELETED  ${id}: ${why}`),
    `${counts.holds} hold, ${counts.differs} differ, ${counts.skipped} skipped`,
  ]
}
