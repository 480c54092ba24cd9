/** Adds to the facts table what reports have seen on Azure. */
import { type Report, seenOf } from '../report/report.ts'
import { mapFacts } from './facts-table.ts'

const mark = /; \*(?:seen|differs) on Azure at [^*]*\*/

/** The table's text with what the newest report of Azure itself says of each row; those of an emulator say nothing. */
export function withSeen(table: string, reports: readonly Report[]): string {
  const oldestFirst = reports
    .filter(({ place }) => place === 'Azure')
    .toSorted((one, other) => one.date.localeCompare(other.date))
  const words = new Map<string, string>()
  for (const report of oldestFirst) {
    for (const [fact, outcome] of seenOf(report)) {
      words.set(fact, `; *${outcome === 'holds' ? 'seen' : 'differs'} on Azure at ${report.date.slice(0, 10)}*`)
    }
  }
  return mapFacts(table, ({ id, claim, known }) => ({
    id,
    claim,
    known: known.replace(mark, '') + (words.get(id) ?? ''),
  }))
}
