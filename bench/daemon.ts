import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { pinned } from './cores.ts'
import type { MemoryLimit } from './memory-limit.ts'

/** A program that is measured as it is: it knows nothing of the benchmark, and ends by a signal. */
export interface Daemon extends AsyncDisposable {
  readonly pid: number
  /** Whether it still runs. */
  alive(): boolean
}

export interface DaemonOptions {
  readonly command: string
  readonly args: readonly string[]
  /** All that it finds in its environment beside the path. */
  readonly env: Readonly<Record<string, string>>
  readonly core: 'server' | 'load'
  /** The most memory that it may take. @default no limit */
  readonly memoryLimit?: MemoryLimit
  /** Asked again and again until it says so; told what the program has written so far. */
  readonly ready: (output: string) => boolean | Promise<boolean>
}

const readyTimeoutMs = 60_000
const pollMs = 50
const stopTimeoutMs = 5_000
const keptBytes = 16_000

/** Starts a program and waits until it is ready. */
export async function startDaemon(options: DaemonOptions): Promise<Daemon> {
  const { command, args, env, core, memoryLimit, ready } = options
  const [program, programArgs] = pinned(core, ...(memoryLimit?.wrap(command, args) ?? [command, args]))
  const { PATH = '', HOME = '' } = process.env
  const child = spawn(program, programArgs, { env: { PATH, HOME, ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(-keptBytes)
    })
  }
  const kill = () => void child.kill('SIGKILL')
  process.once('exit', kill)
  const exited = once(child, 'exit').finally(() => process.off('exit', kill))
  const stop = async () => {
    child.kill()
    const timer = setTimeout(kill, stopTimeoutMs)
    await exited
    clearTimeout(timer)
    memoryLimit?.remove()
  }
  const running = () => child.exitCode === null && child.signalCode === null
  if (child.pid !== undefined) memoryLimit?.watch(child.pid)
  const deadline = performance.now() + readyTimeoutMs
  while (!(await ready(output))) {
    if (!running()) throw new Error(`${command} ended with ${child.exitCode ?? child.signalCode}: ${output.trim()}`)
    if (performance.now() > deadline) {
      await stop()
      throw new Error(`${command} was not ready in time: ${output.trim()}`)
    }
    await delay(pollMs)
  }
  // It is ready, so it was spawned.
  return { pid: child.pid ?? 0, alive: running, [Symbol.asyncDispose]: stop }
}
