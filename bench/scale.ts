/** How long and how often is measured. */
export interface Scale {
  /** Runs of each case. */
  readonly rounds: number
  /**
   * Processes in which most servers are measured, one after another: two of the same program differ by a fifth, more than the
   * targets allow for.
   */
  readonly processes: number
  /** Milliseconds of one run. */
  readonly runMs: number
  /** How much longer a run takes that has to compile its code again (V8 throws it away when a load ends), or looks at rare events. */
  readonly longRun: number
  /** Milliseconds that a load goes on before the cost of its events is measured, where it grows. */
  readonly leadMs: number
  /** Milliseconds that a server is loaded before its first run, so that it has compiled what it needs. */
  readonly warmUpMs: number
  /** The same through daprd, where a server takes so much less that its code is compiled late. */
  readonly daprWarmUpMs: number
  /** Requests a second of the steady load. */
  readonly steadyRate: number
  /** The same through daprd, which takes less. */
  readonly daprRate: number
  readonly connections: readonly number[]
  readonly instances: readonly number[]
  /** Callers of `create` at once. */
  readonly manyCallers: number
  /** Events after which memory is looked at, and looked at again. */
  readonly memoryEvents: readonly [number, number]
  /** Milliseconds that the shipped commands are loaded while their memory is watched. */
  readonly steadyMemoryMs: number
  /** Deliveries a second of that load, and as many events published. */
  readonly steadyMemoryRate: number
  /** Milliseconds that a server rests before its memory counts as idle. */
  readonly restMs: number
}

/** Runs of each case in each of the processes. */
export function roundsPerProcess({ rounds, processes }: Scale): number {
  return Math.ceil(rounds / processes)
}

/** What the targets are about. */
export const fullScale: Scale = {
  rounds: 9,
  processes: 3,
  runMs: 1_000,
  longRun: 3,
  leadMs: 1_500,
  warmUpMs: 3_000,
  daprWarmUpMs: 10_000,
  steadyRate: 5_000,
  daprRate: 1_000,
  connections: [1, 32, 1_000, 5_000],
  instances: [1, 10, 50],
  manyCallers: 256,
  memoryEvents: [200_000, 1_000_000],
  steadyMemoryMs: 600_000,
  steadyMemoryRate: 500,
  restMs: 3_000,
}

/** Shows only that everything works; its figures mean nothing. */
export const shortScale: Scale = {
  rounds: 1,
  processes: 1,
  runMs: 300,
  longRun: 1,
  leadMs: 100,
  warmUpMs: 100,
  daprWarmUpMs: 100,
  steadyRate: 500,
  daprRate: 100,
  connections: [1, 100],
  instances: [1, 3],
  manyCallers: 32,
  memoryEvents: [500, 1_000],
  steadyMemoryMs: 5_000,
  steadyMemoryRate: 100,
  restMs: 100,
}
