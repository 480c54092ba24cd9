/** Adds to the facts table what reports have seen on Azure. */
import { type Report, seenOf } from '../report/report.ts'

const mark = /; \*(?:seen|differs) on Azure at [^*]*\*/

/** The table's text with what the newest report says of each row, for reports of Azure itself; a row of none stays as it is. */
export function withSeen(table: string, reports: readonly Report[]): string {
  const newest = reports
    .filter(({ place }) => place === 'Azure')
    .toSorted((one, other) => one.date.localeCompare(other.date))
  const words = new Map<string, string>()
  for (const report of newest) {
    for (const [fact, outcome] of seenOf(report)) {
      words.set(fact, `; *${outcome === 'holds' ? 'seen' : 'differs'} on Azure at ${report.date.slice(0, 10)}*`)
    }
  }
  return table
    .split('\n')
    .map((line) => {
      if (!line.startsWith('| ') || line.startsWith('| id ')) return line
      const [id = '', claim = '', known = '', ...rest] = line.slice(2).split(' | ')
      return `| ${[id, claim, known.replace(mark, '') + (words.get(id) ?? ''), ...rest].join(' | ')}`
    })
    .join('\n')
}
