/** What becomes of a command whose log, or whose result, can't be written or is not read. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, it, onTestFinished } from 'vitest'
import { compileCache, programArgs } from '../../support/command.ts'
import { makeComponentFolder } from '../../support/component-folder.ts'
import { eventually } from '../../support/eventually.ts'
import { freePort } from '../../support/free-port.ts'
import { makeSocketFolder } from '../../support/socket-folder.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const source = resolve(import.meta.dirname, '../../../src')

/** Where a log goes that nobody gets. */
const logs = ['a full disk', 'a pipe without a reader', 'a pipe that is never read'] as const

/** Starts the program with such a log on stdout and stderr. */
function startUnread(log: (typeof logs)[number], args: readonly string[]): ChildProcess {
  const full = openSync('/dev/full', 'w')
  const to = log === 'a full disk' ? full : 'pipe'
  const child = spawn(process.execPath, [...programArgs, ...args], {
    env: { ...process.env, NODE_COMPILE_CACHE: compileCache },
    stdio: ['ignore', to, to],
  })
  closeSync(full)
  if (log === 'a pipe without a reader') for (const stream of [child.stdout, child.stderr]) stream?.destroy()
  onTestFinished(() => void child.kill('SIGKILL'))
  return child
}

const droppedLines = async (port: number): Promise<number> => {
  const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
  return Number(/^eventgrid_binding_log_lines_dropped_total (\d+)$/m.exec(metrics)?.[1])
}

it.each(logs.flatMap((log) => [{ log, command: 'run' } as const, { log, command: 'serve' } as const]))(
  '$command goes on, counts its lines and ends when it is asked to, where its log is $log',
  async ({ log, command }) => {
    const args = {
      run: () => ['--http-port', '0', '--components', makeComponentFolder().path],
      serve: () => ['--sockets-folder', makeSocketFolder()],
    }
    const port = await freePort()
    const child = startUnread(log, [command, ...args[command](), '--metrics-port', String(port)])
    const dropped = await eventually(() => droppedLines(port))
    if (log === 'a pipe that is never read') expect(dropped).toBe(0)
    else expect(dropped).toBeGreaterThan(0)
    child.kill('SIGTERM')
    expect(await once(child, 'exit')).toEqual([0, null])
  },
)

/** Runs lines of a shell with the words of our command as `$0 "$@"`; resolves with what it wrote on stderr. */
async function inShell(lines: string, words: readonly string[], cwd = temporaryFolder()): Promise<string> {
  const shell = spawn('sh', ['-c', lines, process.execPath, ...words], { cwd, stdio: ['ignore', 'ignore', 'pipe'] })
  return text(shell.stderr)
}

/** The options that name a component which only publishes: none of these commands has a request to make for it. */
function publisher(): readonly string[] {
  const folder = makeComponentFolder()
  folder.write(
    'orders.yaml',
    `apiVersion: dapr.io/v1alpha1
kind: Component
metadata: { name: orders }
spec:
  type: bindings.azure.eventgrid
  version: v1
  metadata:
    - { name: topicEndpoint, value: "https://orders.westeurope-1.eventgrid.azure.net/api/events" }
    - { name: accessKey, value: "YSBrZXkgb2YgYSB0b3BpYyBvZiAzMiBieXRlcyBsb25nIQ==" }
`,
  )
  return ['--components', folder.path, '--component', 'orders']
}

/** Commands whose stdout is their result, and where all else goes well. */
const results: readonly (readonly [name: string, args: () => readonly string[]])[] = [
  ['help', () => ['help']],
  ['the help of a command', () => ['run', '--help']],
  ['the version', () => ['--version']],
  ['schema', () => ['schema']],
  ['init', () => ['init']],
  ['check', () => ['check', '--offline', ...publisher()]],
  ['check --json', () => ['check', '--offline', '--json', ...publisher()]],
  ['provision', () => ['provision', '--json', ...publisher()]],
  ['replay', () => ['replay', '--dry-run', ...publisher(), temporaryFolder()]],
]

it.each(results)('ends with 1 and says why where its result can not be written: %s', async (_name, args) => {
  const said = await inShell('"$0" "$@" >/dev/full; echo "exit $?" >&2', [...programArgs, ...args()])
  expect(said).toMatch(/^the result can't be written: ENOSPC.*\nexit 1\n$/)
})

it.each(results)('ends with 1 and is quiet where the reader of its result has gone: %s', async (_name, args) => {
  const said = await inShell('{ sleep 0.1; "$0" "$@"; echo "exit $?" >&2; } | true', [...programArgs, ...args()])
  expect(said).toBe('exit 1\n')
})

/** A program of one command, whose code is given. */
const program = (run: string) => [
  '--disable-warning=ExperimentalWarning',
  '--input-type=module',
  '--eval',
  `import { runCommand } from '${source}/support/command-line/run-command.ts'
   import { outputOf } from '${source}/support/command-line/output.ts'
   process.exitCode = await runCommand({ words: 'x', load: async () => ({ help: '', run: ${run} }) }, [])`,
]

it('has all of a result read, however slowly', async () => {
  const slow = '{ "$0" "$@"; echo "exit $?" >&2; } | { sleep 2; wc -c >&2; }'
  const run = 'async (_, terminal) => { for (let at = 0; at < 9; at++) terminal.data("x".repeat(99_999)); return 0 }'
  const said = await inShell(slow, program(run))
  expect(
    said
      .split('\n')
      .map((line) => line.trim())
      .toSorted(),
  ).toEqual(['', '900000', 'exit 0'])
})

it('writes a result that has no room to the end of the room, and ends with 1', async () => {
  const run = 'async (_, terminal) => { terminal.data("x".repeat(9_999)); return 0 }'
  const said = await inShell('ulimit -f 2; "$0" "$@" >result; echo "exit $?" >&2', program(run))
  expect(said).toMatch(/^the result can't be written: EFBIG.*\nexit 1\n$/)
})

/** Writes 64 MB of lines as fast as it can; the file then has what became of them. */
const flood = (file: string) =>
  program(`async () => {
    const log = outputOf(2)
    for (let round = 0; round < 640; round++) {
      for (let line = 0; line < 1000; line++) log.write('x'.repeat(99) + '\\n')
      await new Promise((next) => setImmediate(next))
    }
    const { writeFileSync, renameSync } = await import('node:fs')
    writeFileSync('${file}.new', JSON.stringify({ dropped: log.dropped, megabytes: process.memoryUsage.rss() / 1e6 }))
    renameSync('${file}.new', '${file}')
    process.exit()
  }`)

const quoted = (word: string) => `'${word.replaceAll("'", `'\\''`)}'`
/** `script` of other systems has other options. */
const hasScript = String(spawnSync('script', ['--version']).stdout).includes('util-linux')

it.each([
  { name: 'a pipe', words: (program: readonly string[]) => program },
  ...(hasScript
    ? [
        {
          name: 'a terminal',
          words: (program: readonly string[]) => [
            'script',
            '-qec',
            `exec ${program.map(quoted).join(' ')}`,
            '/dev/null',
          ],
        },
      ]
    : []),
])('neither waits for $name that is never read, nor keeps its lines', async ({ words }) => {
  const file = join(temporaryFolder(), 'result')
  const [command = '', ...args] = words([process.execPath, ...flood(file)])
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const { dropped, megabytes } = await eventually(() => JSON.parse(readFileSync(file, 'utf8')))
  expect(dropped).toBeGreaterThan(550_000)
  expect(megabytes).toBeLessThan(150)
})
