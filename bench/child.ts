import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { pinned } from './cores.ts'

/**
 * A program of the benchmark, in a process of its own. It prints JSON lines: one when it is ready, then one for each line
 * that it is sent.
 */
export interface Child<Ready> extends AsyncDisposable {
  readonly pid: number
  /** What it said when it was ready. */
  readonly ready: Ready
  /** Milliseconds from the spawn to that line. */
  readonly readyMs: number
  /** Sends a message; the answer is what the caller knows it to be, for both sides are the benchmark's own. */
  ask<Answer>(message: object): Promise<Answer>
  /** Ends its standard input, which ends it; kills it if it has not gone in five seconds. */
  stop(): Promise<void>
}

export interface ChildOptions {
  /** A TypeScript file of the benchmark, or with `command` the arguments of another program. */
  readonly args: readonly string[]
  /** @default Node */
  readonly command?: string
  /** Beside this process's own environment. */
  readonly env?: Readonly<Record<string, string>>
  /** Which core it has for itself. */
  readonly core: 'server' | 'load'
}

const stopTimeoutMs = 5_000
const keptErrorBytes = 4_000

/** Starts a program and waits until it is ready. */
export async function startChild<Ready>({
  args,
  command = process.execPath,
  env,
  core,
}: ChildOptions): Promise<Child<Ready>> {
  const started = performance.now()
  const [program, programArgs] = pinned(core, command, args)
  const child = spawn(program, programArgs, { env: { ...process.env, ...env }, stdio: ['pipe', 'pipe', 'pipe'] })
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors = (errors + text).slice(-keptErrorBytes)
  })
  // A program that is gone takes no input; how it ended says more than this error.
  child.stdin.on('error', () => {})
  const kill = () => void child.kill('SIGKILL')
  process.once('exit', kill)
  const exited = once(child, 'exit').finally(() => process.off('exit', kill))
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  const next = async () => {
    const { done, value } = await lines.next()
    if (done) {
      const [code] = await exited
      throw new Error(`${args.join(' ')} ended with ${code}: ${errors.trim()}`)
    }
    return JSON.parse(value)
  }
  const stop = async () => {
    child.stdin.end()
    const timer = setTimeout(kill, stopTimeoutMs)
    await exited
    clearTimeout(timer)
  }
  const ready: Ready = await next()
  const readyMs = performance.now() - started
  // It has just said something, so it was spawned.
  const pid = child.pid ?? 0
  return {
    pid,
    ready,
    readyMs,
    async ask(message) {
      child.stdin.write(`${JSON.stringify(message)}\n`)
      return next()
    },
    stop,
    [Symbol.asyncDispose]: stop,
  }
}
