/**
 * Proves that the tests named in test/specification/specification.md can fail: makes each row's one-line change in a copy of the
 * project, runs the row's test there and expects red, after all of them were green on the code as it stands.
 *
 *   npm run check:specification              every row
 *   npm run check:specification -- 4.1       the rows of one section
 */
import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type Row, readRows } from './rows.ts'

const root = resolve(import.meta.dirname, '../..')
const workspace = join(root, '.cache/specification')
const copied = [
  'src',
  'packages',
  'test',
  'examples',
  'package.json',
  'tsconfig.json',
  'vitest.config.ts',
  'README.md',
  'docs',
]

function makeCopy(name: string): string {
  const folder = join(workspace, name)
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  for (const entry of copied) cpSync(join(root, entry), join(folder, entry), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  return folder
}

interface Verdict {
  readonly passed: number
  readonly failed: number
}

function runTests(folder: string, pattern: string): Promise<Verdict> {
  const report = join(folder, 'report.json')
  rmSync(report, { force: true })
  const vitest = join(root, 'node_modules/vitest/vitest.mjs')
  // A change may make a test hang, which is red too: the tests end it before the run is ended.
  const limit = ['--testTimeout=60000', '--hookTimeout=60000']
  const args = [
    vitest,
    'run',
    'test/specification',
    '--reporter=json',
    `--outputFile=${report}`,
    '-t',
    pattern,
    ...limit,
  ]
  return new Promise((done, fail) => {
    execFile(process.execPath, args, { cwd: folder, timeout: 180_000 }, (_error, stdout, stderr) => {
      try {
        const { numPassedTests, numFailedTests, testResults } = JSON.parse(readFileSync(report, 'utf8'))
        // A change that keeps the file from loading fails no single test, but the file.
        const broken = testResults.filter((file: { status: string }) => file.status === 'failed').length
        done({ passed: numPassedTests, failed: Math.max(numFailedTests, broken) })
      } catch {
        fail(new Error(`vitest gave no report:\n${stdout}\n${stderr}`))
      }
    })
  })
}

const exactly = (name: string) => `${name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}$`

async function checkRow(folder: string, row: Row): Promise<string | undefined> {
  const file = join(folder, row.file)
  const original = readFileSync(file, 'utf8')
  const found = original.split(row.before).length - 1
  if (found !== 1) return `${row.file} holds \`${row.before}\` ${found} times, not once`
  try {
    writeFileSync(
      file,
      original.replace(row.before, () => row.after),
    )
    const { passed, failed } = await runTests(folder, exactly(row.test))
    if (failed > 0) return undefined
    return passed === 0 ? `no test is named "${row.test}"` : 'the test stayed green'
  } finally {
    writeFileSync(file, original)
  }
}

const rows = readRows(readFileSync(join(root, 'test/specification/specification.md'), 'utf8'))
const only = process.argv[2]
const chosen = only ? rows.filter(({ section }) => section === only || section.startsWith(`${only}.`)) : rows
const queue = [...chosen]
const faults: string[] = []

const folders = [makeCopy('one'), makeCopy('two')]
const [first = ''] = folders
const untouched = await runTests(first, '')
if (untouched.failed > 0 || untouched.passed === 0) {
  console.error(`the tests are not green without any change: ${untouched.passed} passed, ${untouched.failed} failed`)
  process.exit(1)
}

await Promise.all(
  folders.map(async (folder) => {
    for (let row = queue.shift(); row; row = queue.shift()) {
      const fault = await checkRow(folder, row)
      if (fault) faults.push(`${row.section} ${row.test}: ${fault}`)
      console.log(`${fault ? 'NOT SHOWN' : 'shown    '}  ${row.section.padEnd(4)} ${row.test}`)
    }
  }),
)
rmSync(workspace, { recursive: true, force: true })

console.log(`\n${chosen.length - faults.length} of ${chosen.length} sentences are shown by a test that can fail`)
for (const fault of faults) console.error(fault)
process.exitCode = faults.length > 0 || chosen.length === 0 ? 1 : 0
