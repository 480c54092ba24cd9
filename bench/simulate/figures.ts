/** What is counted in one step of time. */
export interface Step {
  readonly atMs: number
  reads: number
  /** Calls with POST that read what ARM hides. They count as writes for the throttling. */
  secretReads: number
  writes: number
  refusedWrites: number
  throttled: number
  handshakes: number
  delivered: number
  /** Deliveries answered 503 because their credential is not known. */
  foreign: number
  /** Other deliveries that failed: no replica was ready, or it had gone. */
  failed: number
  /** Age of the oldest event that was not delivered, in ms. */
  oldestMs: number
}

/** Names of what {@link Figures.count} counts. */
export type Counted = Exclude<keyof Step, 'atMs' | 'oldestMs'>

/** Counts what happens, in steps of ten seconds. */
export interface Figures {
  readonly steps: readonly Step[]
  count(what: Counted, times?: number): void
  sawAge(ms: number): void
  /** The sum from a moment on. */
  total(what: Counted, fromMs?: number): number
  oldestMs(fromMs?: number): number
  /** Events that nobody will deliver any more. */
  lost: number
  /** Each warning of the replicas once, with how many replicas gave it. */
  readonly warnings: Map<string, number>
}

const stepMs = 10_000

export function createFigures(now: () => number): Figures {
  const steps: Step[] = []
  const current = (): Step => {
    const index = Math.floor(now() / stepMs)
    for (let step = steps.at(-1); !step || step.atMs < index * stepMs; step = steps.at(-1)) {
      steps.push({
        atMs: step ? step.atMs + stepMs : 0,
        ...{ reads: 0, secretReads: 0, writes: 0, refusedWrites: 0, throttled: 0, handshakes: 0 },
        ...{ delivered: 0, foreign: 0, failed: 0, oldestMs: 0 },
      })
    }
    return steps[index] ?? current()
  }
  const from = (ms: number) => steps.filter(({ atMs }) => atMs >= ms)
  return {
    steps,
    count(what, times = 1) {
      current()[what] += times
    },
    sawAge(ms) {
      const step = current()
      step.oldestMs = Math.max(step.oldestMs, ms)
    },
    total: (what, fromMs = 0) => from(fromMs).reduce((sum, step) => sum + step[what], 0),
    oldestMs: (fromMs = 0) => Math.max(0, ...from(fromMs).map((step) => step.oldestMs)),
    lost: 0,
    warnings: new Map(),
  }
}
