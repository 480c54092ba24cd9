import { spawnSync } from 'node:child_process'
import { availableParallelism } from 'node:os'

/** Whether server and load can have a core each. */
export const canPin = availableParallelism() > 1 && spawnSync('taskset', ['--version']).status === 0

const cores = { load: '0', server: '1' } as const

/** A command line that runs a program on one core, where this machine can do that. */
export function pinned(core: keyof typeof cores, command: string, args: readonly string[]): [string, string[]] {
  return canPin ? ['taskset', ['-c', cores[core], command, ...args]] : [command, [...args]]
}
