import { type ChildProcess, spawn } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { onTestFinished } from 'vitest'

/** A command that runs as a process of its own. */
export interface Command {
  readonly process: ChildProcess
  /** All lines so far, of stdout and of stderr. */
  readonly lines: readonly string[]
  /** All lines of stdout so far. */
  readonly stdout: readonly string[]
  /**
   * Resolves with the match of the first line that fits, of those so far and of those to come; rejects when the process ends
   * without one.
   */
  line(pattern: RegExp): Promise<RegExpExecArray>
  /** Resolves with the exit code, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals>
}

const root = resolve(import.meta.dirname, '../..')
/** The program under test: the source, or with EVENTGRID_BINDING_PROGRAM=bundle a copy of the bundle, far from any `node_modules`. */
const main =
  process.env.EVENTGRID_BINDING_PROGRAM === 'bundle'
    ? copyOfBundle(resolve(root, 'bundle'), 'eventgrid-binding.js')
    : resolve(root, 'src/sidecar/cli/main.ts')
/** Halves the time that a start takes. */
export const compileCache = resolve(root, '.cache/compile')

/** Copies a bundle far from any `node_modules`, and names its program there. */
export function copyOfBundle(bundle: string, program: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'eventgrid-binding-bundle-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  cpSync(bundle, folder, { recursive: true })
  return join(folder, program)
}

/** What Node is given to run the command. */
export const programArgs: readonly string[] = ['--disable-warning=ExperimentalWarning', main]

/** Starts `eventgrid-binding` with arguments; the test's end kills what is left of it. */
export function startCommand(args: readonly string[], env: Readonly<Record<string, string>> = {}): Command {
  return startProcess(process.execPath, [...programArgs, ...args], { NODE_COMPILE_CACHE: compileCache, ...env })
}

/** Starts it in a terminal of 80 columns, made by `script` of util-linux: its lines have escape codes of that terminal. */
export function startInTerminal(args: readonly string[]): Command {
  const words = [process.execPath, ...programArgs, ...args].map((word) => `'${word}'`).join(' ')
  const given = ['-qec', `stty cols 80; exec ${words}`, '/dev/null']
  return startProcess('script', given, { NODE_COMPILE_CACHE: compileCache, TERM: 'xterm' })
}

/** Starts it where no file may grow over some blocks of 512 bytes or 1 KiB, in place of a full disk. */
export function startWithSmallFiles(blocks: number, args: readonly string[]): Command {
  const given = ['-c', 'ulimit -f "$0"; exec "$@"', String(blocks), process.execPath, ...programArgs, ...args]
  return startProcess('sh', given)
}

/** Starts any program with arguments; the test's end kills what is left of it. */
export function startProcess(
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  stdin: 'ignore' | 'pipe' = 'ignore',
): Command {
  const { PATH = '', HOME = '', TMPDIR } = process.env
  const child = spawn(program, args, {
    env: { PATH, HOME, ...(TMPDIR !== undefined && { TMPDIR }), ...env },
    stdio: [stdin, 'pipe', 'pipe'],
  })
  const lines: string[] = []
  const stdout: string[] = []
  const watchers = new Set<() => void>()
  for (const stream of [child.stdout, child.stderr]) {
    if (!stream) continue
    createInterface({ input: stream }).on('line', (line) => {
      lines.push(line)
      if (stream === child.stdout) stdout.push(line)
      for (const look of watchers) look()
    })
  }
  const ended = new Promise<number | NodeJS.Signals>((done, failed) => {
    child.on('error', failed)
    child.on('close', (code, signal) => done(code ?? signal ?? 1))
  })
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await ended
  })
  const find = (pattern: RegExp) => lines.map((line) => pattern.exec(line)).find((match) => match !== null)
  return {
    process: child,
    lines,
    stdout,
    ended,
    line: (pattern) =>
      new Promise((found, failed) => {
        const look = () => {
          const match = find(pattern)
          if (!match) return
          watchers.delete(look)
          found(match)
        }
        watchers.add(look)
        look()
        ended.then((code) => {
          if (find(pattern)) return
          failed(new Error(`it ended (${code}) without a line like ${pattern}:\n${lines.join('\n')}`))
        }, failed)
      }),
  }
}
