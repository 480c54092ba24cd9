/**
 * Do the tests notice? Breaks the code in small ways, one at a time and in a copy, and runs the tests that reach each place:
 * `npm run mutate -- src/dispatch` for rooms or files, with `--sample 4` for a fourth of their lines, chosen by chance (`--seed 2`: others);
 * `npm run mutate -- --changed` for the lines that a branch has changed. `--tests FILE` runs these tests alone: a table of a pure function
 * takes a second for each mutant, all tests of a room ten.
 */
import { execFileSync } from 'node:child_process'
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { relative, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { Stryker } from '@stryker-mutator/core'
import { parse } from 'yaml'
import { changedLines } from './changed-lines.ts'
import { judge, type Meant } from './judge.ts'
import { fullReport, shortReport } from './report.ts'
import { sampleOf } from './sample.ts'
import { falls, recordScores } from './scores.ts'
import { testFilesVariable, testsOf } from './tests-of.ts'

const root = resolve(import.meta.dirname, '../..')
process.chdir(root)
const output = '.cache/mutation'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    changed: { type: 'boolean' },
    since: { type: 'string', default: 'main' },
    record: { type: 'boolean' },
    sample: { type: 'string', default: '1' },
    seed: { type: 'string', default: '1' },
    tests: { type: 'string', multiple: true },
    concurrency: { type: 'string', default: `${availableParallelism()}` },
  },
})
const places = values.changed
  ? changedLines(values.since)
  : globSync(positionals.flatMap((place) => (place.endsWith('.ts') ? place : `${place}/**/*.ts`)))
if (places.length === 0) {
  console.log(
    values.changed ? `No line of the source differs from ${values.since}.` : 'Name rooms or files, or --changed.',
  )
  process.exit(values.changed ? 0 : 2)
}
const files = [...new Set(places.map((place) => place.replace(/:.*/, '')))]
const sources = Object.fromEntries(files.map((file) => [file, readFileSync(file, 'utf8')]))
const oneIn = Number(values.sample)
const testFiles = values.tests ?? testsOf(files)
console.log(`Files: ${files.length}. Files of tests: ${testFiles.length}.`)

// Not by Stryker's own option: with it a mutant in what a module does when it is loaded would never be switched on.
process.env[testFilesVariable] = JSON.stringify(testFiles)
// Random models find a mutant in few worlds, or the tables find it. The same worlds each time: a score is no matter of chance.
process.env.MODEL_RUNS ??= '3'
process.env.MODEL_SEED ??= '1'
const mutants = await new Stryker({
  mutate: [...(oneIn > 1 ? sampleOf(sources, { oneIn, seed: values.seed }) : places)],
  // What a text says is no decision, and no test reads our sentences.
  mutator: { excludedMutations: ['StringLiteral'] },
  // A room without tests of its own has a score too: none.
  allowEmpty: true,
  testRunner: 'vitest',
  plugins: [import.meta.resolve('@stryker-mutator/vitest-runner')],
  vitest: { configFile: 'test/mutation/vitest.config.ts', related: false },
  coverageAnalysis: 'perTest',
  concurrency: Number(values.concurrency),
  // Ends what is busy for ever; what waits for ever is ended by the time-outs of vitest.config.ts. No demand on the machine's speed.
  timeoutMS: 20_000,
  timeoutFactor: 2,
  dryRunTimeoutMinutes: 30,
  tempDirName: `${output}/copy`,
  cleanTempDir: 'always',
  ignorePatterns: ['.cache', 'bundle', 'bundle-maps'],
  // Node drops the types; the compiler is not asked, and its newest version has not what Stryker calls.
  disableTypeChecks: false,
  tsconfigFile: 'none',
  allowConsoleColors: process.stdout.isTTY,
  reporters: [process.stdout.isTTY ? 'progress' : 'progress-append-only'],
}).runMutationTest()

const meant: readonly Meant[] = parse(readFileSync('test/mutation/meant.yaml', 'utf8')) ?? []
const verdict = judge({
  mutants: mutants.map((mutant) => ({ ...mutant, fileName: relative(root, mutant.fileName).replaceAll('\\', '/') })),
  meant: meant.filter(({ file }) => files.includes(file)),
  sources,
})
mkdirSync(output, { recursive: true })
writeFileSync(`${output}/report.md`, fullReport(verdict))
console.log(shortReport(verdict), `\nAll of it: ${output}/report.md`)

const rooms = values.changed ? [] : positionals.filter((place) => !place.endsWith('.ts'))
const fallen = falls(rooms, verdict, oneIn)
for (const fall of fallen) console.log(fall)
if (values.record) {
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD']).toString().trim()
  recordScores(rooms, verdict, { commit, oneIn })
}
process.exitCode = verdict.stale.length > 0 || fallen.length > 0 ? 1 : 0
