/** The reports of runs on Azure that were put into the repository. */
import { existsSync, globSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { z } from 'zod'
import type { Report } from '../report/report.ts'

const folder = resolve(import.meta.dirname, '../reports')

const named = { fact: z.string(), asks: z.string(), source: z.string(), seconds: z.number() }
const result = z.discriminatedUnion('outcome', [
  z.object({ ...named, outcome: z.literal('holds') }),
  z.object({
    ...named,
    outcome: z.literal('differs'),
    differences: z.array(z.object({ path: z.string(), expected: z.string(), seen: z.string() })),
  }),
  z.object({ ...named, outcome: z.literal('skipped'), reason: z.string() }),
])
const report = z.object({
  version: z.literal(1),
  place: z.enum(['Azure', 'emulator']),
  date: z.iso.datetime(),
  location: z.string(),
  push: z.boolean(),
  results: z.array(result),
  notMade: z.array(z.object({ what: z.string(), why: z.string(), unsupported: z.boolean() })),
  notDeleted: z.array(z.object({ id: z.string(), why: z.string() })),
  whole: z.boolean(),
})

/** All of them; throws for one that has another form. */
export function readReports(): readonly Report[] {
  if (!existsSync(folder)) return []
  return globSync('*.json', { cwd: folder }).map((file) =>
    report.parse(JSON.parse(readFileSync(resolve(folder, file), 'utf8'))),
  )
}
