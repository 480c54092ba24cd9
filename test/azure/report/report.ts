/** The report of a run: what holds, what differs and how, what was skipped and why. */
import { z } from 'zod'

const difference = z.object({ path: z.string(), expected: z.string(), seen: z.string() })
/**
 * `fact` is the id of the row of the facts table, `product` for what the product itself does; `source` says where the expectation is
 * from.
 */
const named = { fact: z.string(), asks: z.string(), source: z.string(), seconds: z.number() }
const result = z.discriminatedUnion('outcome', [
  z.object({ ...named, outcome: z.literal('holds') }),
  z.object({ ...named, outcome: z.literal('differs'), differences: z.array(difference).readonly() }),
  z.object({ ...named, outcome: z.literal('skipped'), reason: z.string() }),
])
export type Result = z.infer<typeof result>

export const reportForm = z.object({
  version: z.literal(1),
  place: z.enum(['Azure', 'emulator']),
  /** When the run began. */
  date: z.iso.datetime(),
  location: z.string(),
  /** Whether Event Grid could push to this run. */
  push: z.boolean(),
  results: z.array(result).readonly(),
  /** What could not be made, and what could not be deleted. */
  notMade: z.array(z.object({ what: z.string(), why: z.string(), unsupported: z.boolean() })).readonly(),
  notDeleted: z.array(z.object({ id: z.string(), why: z.string() })).readonly(),
  /** Whether the run came to its end. */
  whole: z.boolean(),
})
export type Report = z.infer<typeof reportForm>

export function countsOf({ results }: Pick<Report, 'results'>) {
  const count = (outcome: Result['outcome']) => results.filter((one) => one.outcome === outcome).length
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
