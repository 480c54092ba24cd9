import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import type { OnEnd } from './network.ts'

/** Starts a program of Node, which is killed at the end. */
export function startProcess(onEnd: OnEnd, args: readonly string[]): ChildProcess {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  onEnd(() => void child.kill('SIGKILL'))
  return child
}

/** The first line that a program writes; `nothing` if it ends without one. */
export async function firstLine({ stdout }: ChildProcess): Promise<string> {
  if (!stdout) throw new Error('the process has no output')
  const lines = createInterface({ input: stdout })
  const [line] = await Promise.race([once(lines, 'line'), once(lines, 'close').then(() => ['nothing'])])
  return String(line)
}

/** The most memory that a process ever had, in bytes; NaN where the system does not tell. */
export function peakMemory({ pid }: ChildProcess): number {
  try {
    const kilobytes = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
    return Number(kilobytes ?? Number.NaN) * 1024
  } catch {
    return Number.NaN
  }
}
