/** A whole run against the emulator. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { readOptions } from '../plan/options.ts'
import { reportLines } from '../report/report.ts'
import { runAzure } from '../run.ts'
import { targetOf } from '../wire/target.ts'
import { type OpenedAzure, openAzure, publicUrl } from './open-azure.ts'

/** Runs with arguments beside those that lead to the emulator. */
async function run({ front, caFile, port, clock, env, folder }: OpenedAzure, ...args: readonly string[]) {
  const given = ['--resource-group', 'rg', '--yes', '--emulator', front.url, '--ca', caFile]
  const push = ['--public-url', publicUrl, '--port', String(port)]
  const options = readOptions([...given, ...push, ...args], env)
  const lines: string[] = []
  const end = await runAzure(options, {
    target: await targetOf(options.emulator, env),
    clock,
    signal: new AbortController().signal,
    say: (line) => void lines.push(line),
    confirm: async () => true,
    reportFile: join(folder, 'azure-report.json'),
    env,
  })
  return { ...end, lines, options }
}

it('finds that all holds, and leaves nothing', async () => {
  const azure = await openAzure()
  const { report, good, lines } = await run(azure, ...(process.env.ONLY ? ['--only', process.env.ONLY] : []))
  if (process.env.SHOW) console.log(lines.join('\n'))
  expect(report && reportLines(report).filter((line) => !line.startsWith('skipped'))).toEqual([
    expect.stringMatching(/^\d+ hold, 0 differ, \d+ skipped$/),
  ])
  expect(good).toBe(true)
  expect(azure.contents()).toEqual([])
  expect(JSON.parse(readFileSync(join(azure.folder, 'azure-report.json'), 'utf8'))).toEqual(report)
})
