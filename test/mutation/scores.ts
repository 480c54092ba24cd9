// scores.md: the last score of each room. A room that falls below its row is named.
import { readFileSync, writeFileSync } from 'node:fs'
import { scoreOf, type Verdict } from './judge.ts'

const path = new URL('scores.md', import.meta.url)
/** Mutants that a busy machine ends by a time-out make a difference of one; so many more points are between a room and a sample of it. */
const tolerance = { whole: 1, sample: 6 }

const scoreIn = ({ mutants }: Verdict, room: string) =>
  scoreOf(mutants.filter(({ file }) => file.startsWith(`${room}/`)))
const rowOf = (room: string) => new RegExp(`^\\| \`${room}\` \\| ([\\d.]+) % \\| (all|1 in).*\n`, 'm')

/** @param oneIn which part of the lines was measured, one in so many */
export function falls(rooms: readonly string[], verdict: Verdict, oneIn: number): readonly string[] {
  const table = readFileSync(path, 'utf8')
  return rooms.flatMap((room) => {
    const score = scoreIn(verdict, room)
    const [, before, lines] = table.match(rowOf(room)) ?? []
    const fell =
      before !== undefined &&
      score < Number(before) - (lines === 'all' && oneIn === 1 ? tolerance.whole : tolerance.sample)
    return fell ? [`${room} fell from ${before} % to ${score.toFixed(1)} %`] : []
  })
}

/** @param run `oneIn` as in {@link falls} */
export function recordScores(
  rooms: readonly string[],
  verdict: Verdict,
  run: { readonly commit: string; readonly oneIn: number },
): void {
  let table = readFileSync(path, 'utf8')
  for (const room of rooms) {
    const date = new Date().toISOString().slice(0, 10)
    const lines = run.oneIn > 1 ? `1 in ${run.oneIn}` : 'all'
    const row = `| \`${room}\` | ${scoreIn(verdict, room).toFixed(1)} % | ${lines} | ${date} | ${run.commit} |\n`
    table = table.match(rowOf(room)) ? table.replace(rowOf(room), row) : table + row
  }
  writeFileSync(path, table)
}
