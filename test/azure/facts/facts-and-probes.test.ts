/** Probes and the facts table fit each other. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { allProbes } from '../probes/all-probes.ts'
import { unprobed } from '../probes/unprobed.ts'
import type { Report, Result } from '../report/report.ts'
import { factsFile, readFacts } from './facts-table.ts'
import { readReports } from './reports.ts'
import { withSeen } from './seen.ts'

const facts = readFacts()
const known = new Map(facts.map((fact) => [fact.id, fact]))
const probed = new Set(allProbes.map(({ fact }) => fact))

describe('probes and facts', () => {
  it('each probe names a row of the facts table, and no two ask the same', () => {
    expect(allProbes.filter(({ fact }) => !known.has(fact))).toEqual([])
    const names = allProbes.map(({ fact, asks }) => `${fact}: ${asks}`)
    expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([])
  })

  it.each(facts.filter(({ known: how }) => how.includes('assumed')))(
    'what is assumed has a probe, or a reason why it has none: $id',
    ({ id }) => expect(probed.has(id) || /^\w.{20,}$/.test(unprobed[id] ?? ''), id).toBe(true),
  )

  it('no row has both, and no reason is for a row that is not there', () => {
    expect(Object.keys(unprobed).filter((id) => probed.has(id) || !known.has(id))).toEqual([])
  })

  it('asks what no probe can ask for another, unless the row is in part assumed', () =>
    expect(probed.size).toBeGreaterThan(100))
})

describe('what reports have seen', () => {
  it('stands in the facts table: "npm run docs:facts" writes it', () => {
    const table = readFileSync(factsFile, 'utf8')
    expect(withSeen(table, readReports())).toBe(table)
  })

  const probe = { asks: 'a question', source: 'documented', seconds: 1 }
  const differences = [{ path: 'status', expected: '200', seen: '404' }]
  const holds = (fact: string): Result => ({ ...probe, fact, outcome: 'holds' })
  const differs = (fact: string): Result => ({ ...probe, fact, outcome: 'differs', differences })
  const skipped: Result = { ...probe, fact: 'c', outcome: 'skipped', reason: 'needs push' }
  const report = (date: string, results: readonly Result[], place: Report['place'] = 'Azure'): Report => ({
    ...{ version: 1, place, date, location: 'westeurope', push: true },
    ...{ results, notMade: [], notDeleted: [], whole: true },
  })
  const [older, newer] = ['2026-12-01T10:00:00Z', '2027-01-01T10:00:00Z']
  const table = [
    '| known | means |',
    '| assumed | nobody says it |',
    '## Section',
    '| id | fact | known | test |',
    '| a | one | assumed | › x |',
    '| b | two | SDK; *seen on Azure at 2025-01-01* | › y |',
    '| c | three | documented | › z |',
  ].join('\n')

  it.each<[name: string, reports: readonly Report[], a: string, b: string]>([
    ['nothing', [], 'assumed', 'SDK'],
    [
      'one that holds and one that differs',
      [report(older, [holds('a'), differs('b'), skipped])],
      ...(['assumed; *seen on Azure at 2026-12-01*', 'SDK; *differs on Azure at 2026-12-01*'] as const),
    ],
    [
      'the newer of two reports',
      [report(newer, [holds('a')]), report(older, [differs('a')])],
      ...(['assumed; *seen on Azure at 2027-01-01*', 'SDK'] as const),
    ],
    [
      'a fact with two probes, of which one differs',
      [report(older, [differs('a'), holds('a')])],
      ...(['assumed; *differs on Azure at 2026-12-01*', 'SDK'] as const),
    ],
    ['an emulator, which is no Azure', [report(older, [holds('a')], 'emulator')], 'assumed', 'SDK'],
  ])('is marked in the row: %s', (_name, reports, a, b) => {
    expect(withSeen(table, reports).split('\n')).toEqual([
      ...table.split('\n').slice(0, 4),
      `| a | one | ${a} | › x |`,
      `| b | two | ${b} | › y |`,
      '| c | three | documented | › z |',
    ])
  })
})

it('each room has at most sixteen files', () => {
  const files = globSync('**/*', { cwd: join(import.meta.dirname, '..'), withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  )
  const folders = Map.groupBy(files, ({ parentPath }) => parentPath)
  for (const [folder, inside] of folders) expect(inside.length, join(folder)).toBeLessThanOrEqual(16)
})
