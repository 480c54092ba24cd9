import { readdirSync, readFileSync } from 'node:fs'

/** What a process has used so far. */
export interface Usage {
  /** Milliseconds its threads have run. */
  readonly cpuMs: number
  /** Milliseconds they were ready to run and something else had the core. */
  readonly waitedMs: number
}

/** From Linux's scheduler; `undefined` on another system. */
export function usageOf(pid: number): Usage | undefined {
  try {
    let [cpu, waited] = [0, 0]
    for (const task of readdirSync(`/proc/${pid}/task`)) {
      const [ran = 0, delayed = 0] = readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8').split(' ').map(Number)
      cpu += ran
      waited += delayed
    }
    return { cpuMs: cpu / 1e6, waitedMs: waited / 1e6 }
  } catch {
    return undefined
  }
}

/** The same of several processes together. */
export function usageOfAll(pids: readonly number[]): Usage | undefined {
  const sum = { cpuMs: 0, waitedMs: 0 }
  for (const pid of pids) {
    const one = usageOf(pid)
    if (!one) return undefined
    sum.cpuMs += one.cpuMs
    sum.waitedMs += one.waitedMs
  }
  return sum
}

/** Megabytes (2^20 bytes) of a process that no other process shares; `undefined` where there is no /proc. */
export function privateMemoryOf(pid: number): number | undefined {
  try {
    const pages = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8').matchAll(/^Private_\w+:\s+(\d+) kB$/gm)
    return [...pages].reduce((sum, [, kilobytes]) => sum + Number(kilobytes), 0) / 1024
  } catch {
    return undefined
  }
}

/** Megabytes (2^20 bytes) that a process has in memory now, and had at most; `undefined` where there is no /proc. */
export function memoryOf(pid: number): { readonly now: number; readonly peak: number } | undefined {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    const field = (name: string) => Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(status)?.[1]) / 1024
    return { now: field('VmRSS'), peak: field('VmHWM') }
  } catch {
    return undefined
  }
}
