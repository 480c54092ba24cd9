import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { pinned } from './cores.ts'

/** A program that is measured as it is: it knows nothing of the benchmark, and ends by a signal. */
export interface Daemon extends AsyncDisposable {
  readonly pid: number
}

export interface DaemonOptions {
  readonly command: string
  readonly args: readonly string[]
  /** All that it finds in its environment beside the path. */
  readonly env: Readonly<Record<string, string>>
  readonly core: 'server' | 'load'
  /** Asked again and again until it says so; told what the program has written so far. */
  readonly ready: (output: string) => boolean | Promise<boolean>
}

const readyTimeoutMs = 60_000
const pollMs = 50
const stopTimeoutMs = 5_000
const keptBytes = 16_000

/** Starts a program and waits until it is ready. */
export async function startDaemon({ command, args, env, core, ready }: DaemonOptions): Promise<Daemon> {
  const [program, programArgs] = pinned(core, command, args)
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
  }
  const deadline = performance.now() + readyTimeoutMs
  while (!(await ready(output))) {
    if (child.exitCode !== null) throw new Error(`${command} ended with ${child.exitCode}: ${output.trim()}`)
    if (performance.now() > deadline) {
      await stop()
      throw new Error(`${command} was not ready in time: ${output.trim()}`)
    }
    await delay(pollMs)
  }
  // It is ready, so it was spawned.
  return { pid: child.pid ?? 0, [Symbol.asyncDispose]: stop }
}
