import { usageOfAll } from './usage.ts'

/** One run of one case. */
export interface Sample {
  /** What is compared: events a second, milliseconds, ... */
  readonly value: number
  /** Microseconds of the server's processor time for each event, where the system tells. */
  readonly cpuUs?: number | undefined
  /** Part of the run in which something else had the server's core though it wanted to run: 0 on a quiet machine. */
  readonly disturbed?: number | undefined
}

/** Something to measure, again and again. */
export interface Case {
  readonly name: string
  run(): Promise<Sample>
}

/** Runs the cases in turns, each round beginning with another one, so that a disturbance of the machine does not always hit the same. */
export async function takeTurns(cases: readonly Case[], rounds: number): Promise<Map<string, Sample[]>> {
  const samples = new Map(cases.map(({ name }): [string, Sample[]] => [name, []]))
  for (let round = 0; round < rounds; round++) {
    for (let turn = 0; turn < cases.length; turn++) {
      const one = cases[(round + turn) % cases.length]
      if (one) samples.get(one.name)?.push(await one.run())
    }
  }
  return samples
}

/** Events and the milliseconds they took. */
export interface Throughput {
  readonly events: number
  readonly ms: number
}

interface Process {
  readonly pid: number
}

/** Runs some work of a process, or of several together, and puts what they used beside it. */
export async function withUsage<Work extends Throughput>(
  server: Process | readonly Process[],
  work: () => Promise<Work>,
): Promise<Sample & { readonly work: Work }> {
  const pids = [server].flat().map(({ pid }) => pid)
  const before = usageOfAll(pids)
  const done = await work()
  const after = usageOfAll(pids)
  const value = (done.events / done.ms) * 1000
  if (!before || !after) return { value, work: done }
  const cpuUs = ((after.cpuMs - before.cpuMs) * 1000) / done.events
  return { value, cpuUs, disturbed: (after.waitedMs - before.waitedMs) / done.ms, work: done }
}
