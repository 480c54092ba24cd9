// scores.md: the last score of each room. A room that falls below its row is named.
import { readFileSync, writeFileSync } from 'node:fs'
import { scoreOf, type Verdict } from './judge.ts'

const path = new URL('scores.md', import.meta.url)
/** Mutants that a busy machine ends by a time-out make this difference. */
const tolerance = 1

const scoreIn = ({ mutants }: Verdict, room: string) =>
  scoreOf(mutants.filter(({ file }) => file.startsWith(`${room}/`)))
const rowOf = (room: string) => new RegExp(`^\\| \`${room}\` \\| ([\\d.]+) %.*\n`, 'm')

export function falls(rooms: readonly string[], verdict: Verdict): readonly string[] {
  const table = readFileSync(path, 'utf8')
  return rooms.flatMap((room) => {
    const [score, before] = [scoreIn(verdict, room), table.match(rowOf(room))?.[1]]
    const fell = before !== undefined && score < Number(before) - tolerance
    return fell ? [`${room} fell from ${before} % to ${score.toFixed(1)} %`] : []
  })
}

export function recordScores(rooms: readonly string[], verdict: Verdict, commit: string): void {
  let table = readFileSync(path, 'utf8')
  for (const room of rooms) {
    const date = new Date().toISOString().slice(0, 10)
    const row = `| \`${room}\` | ${scoreIn(verdict, room).toFixed(1)} % | ${date} | ${commit} |\n`
    table = table.match(rowOf(room)) ? table.replace(rowOf(room), row) : table + row
  }
  writeFileSync(path, table)
}
