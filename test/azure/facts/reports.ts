/** The reports of runs on Azure that were put into the repository. */
import { existsSync, globSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { type Report, reportForm } from '../report/report.ts'

const folder = resolve(import.meta.dirname, '../reports')

/** All of them; throws for one that has another form. */
export function readReports(): readonly Report[] {
  if (!existsSync(folder)) return []
  return globSync('*.json', { cwd: folder }).map((file) =>
    reportForm.parse(JSON.parse(readFileSync(resolve(folder, file), 'utf8'))),
  )
}
