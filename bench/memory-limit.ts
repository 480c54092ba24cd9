import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { memoryOf } from './usage.ts'

/** A limit of memory that ends a process which exceeds it. */
export interface MemoryLimit {
  /** How the process is held to it, for the report. */
  readonly how: string
  /** The command line that starts a program under the limit. The program keeps the process id. */
  wrap(command: string, args: readonly string[]): [string, string[]]
  /** Begins to watch a process, where the system itself does not. */
  watch(pid: number): void
  /** Ends the limit, once the process has ended. */
  remove(): void
}

const watchMs = 100

/**
 * Holds a process to so many mebibytes: by the kernel, as a container does it, where control groups can be written; else by
 * a look at its resident memory.
 */
export function openMemoryLimit(mebibytes: number): MemoryLimit {
  return openControlGroup(mebibytes) ?? watchResidentMemory(mebibytes)
}

/** Version 2 of control groups has one tree; version 1 has a tree for memory. */
const trees = [
  { folder: '/sys/fs/cgroup', limit: 'memory.max', swap: 'memory.swap.max' },
  { folder: '/sys/fs/cgroup/memory', limit: 'memory.limit_in_bytes', swap: 'memory.memsw.limit_in_bytes' },
] as const

function openControlGroup(mebibytes: number): MemoryLimit | undefined {
  const bytes = String(mebibytes * 2 ** 20)
  for (const { folder, limit, swap } of trees) {
    const group = join(folder, `eventgrid-binding-bench-${process.pid}-${++groups}`)
    try {
      mkdirSync(group)
    } catch {
      continue
    }
    try {
      // The kernel makes the files of a control group: where there is none, this is another kind of folder.
      if (!existsSync(join(group, limit))) throw new Error('no control group')
      writeFileSync(join(group, limit), bytes)
      if (existsSync(join(group, swap))) writeFileSync(join(group, swap), swap.endsWith('max') ? '0' : bytes)
    } catch {
      rmdirSync(group)
      continue
    }
    const enter = 'echo $$ > "$0" && exec "$@"'
    return {
      how: `a control group with ${limit} = ${mebibytes} MiB and no swap; the kernel kills what exceeds it`,
      wrap: (command, args) => ['sh', ['-c', enter, join(group, 'cgroup.procs'), command, ...args]],
      watch() {},
      remove: () => rmdirSync(group),
    }
  }
  return undefined
}

let groups = 0

function watchResidentMemory(mebibytes: number): MemoryLimit {
  let timer: NodeJS.Timeout | undefined
  return {
    how: `control groups can't be written here: resident memory is read every ${watchMs} ms, and SIGKILL is sent above ${mebibytes} MiB`,
    wrap: (command, args) => [command, [...args]],
    watch(pid) {
      timer = setInterval(() => {
        if ((memoryOf(pid)?.now ?? 0) > mebibytes) process.kill(pid, 'SIGKILL')
      }, watchMs)
    },
    remove: () => clearInterval(timer),
  }
}
