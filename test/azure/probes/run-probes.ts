/** Asks the probes, some at a time, and judges what was seen. */

import type { Fact } from '../facts/facts-table.ts'
import type { Made } from '../make/made.ts'
import type { Result } from '../report/report.ts'
import { differences } from './expectation.ts'
import type { Probe, ProbeWorld } from './probe.ts'
import { reasonOf } from './probe-world.ts'

/** Most of them only wait. Azure takes far more calls; a tunnel may not. */
const atOnce = 16

export interface ProbeRun {
  readonly probes: readonly Probe[]
  readonly facts: ReadonlyMap<string, Fact>
  readonly made: Pick<Made, 'missing'>
  readonly signal: AbortSignal
  readonly now: () => number
  /** Makes the world of the probe with this number, counted from 1, and what is to be done after it. */
  readonly open: (probe: Probe, number: number) => { readonly world: ProbeWorld; readonly close: () => Promise<void> }
  readonly tell: (result: Result, done: number) => void
}

/** The results in the order of the probes. After an abort the rest is skipped by name. */
export async function runProbes(run: ProbeRun): Promise<readonly Result[]> {
  const { probes, tell } = run
  const results = new Map<Probe, Result>()
  const waiting = probes.entries()
  const worker = async () => {
    for (const [index, one] of waiting) {
      const result = await askOne(run, one, index + 1)
      results.set(one, result)
      tell(result, results.size)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
  return probes.flatMap((one) => results.get(one) ?? [])
}

async function askOne(run: ProbeRun, one: Probe, number: number): Promise<Result> {
  const { made, facts, signal, now } = run
  const { fact, asks, needs = [], source = facts.get(fact)?.known ?? 'the product' } = one
  const started = now()
  const named = () => ({ fact, asks, source, seconds: Math.round((now() - started) / 1000) })
  const skipped = (reason: string): Result => ({ ...named(), outcome: 'skipped', reason })
  if (signal.aborted) return skipped('the run was ended before')
  const unmet = needs.find((need) => made.missing.has(need))
  if (unmet !== undefined) return skipped(`needs ${unmet}: ${made.missing.get(unmet)}`)
  const { world, close } = run.open(one, number)
  try {
    const seen = await one.ask(world)
    const expected = typeof one.expected === 'function' ? one.expected(world) : one.expected
    const found = differences(expected, seen)
    return found.length === 0
      ? { ...named(), outcome: 'holds' }
      : { ...named(), outcome: 'differs', differences: found }
  } catch (error) {
    if (signal.aborted) return skipped('the run was ended meanwhile')
    const difference = { path: '', expected: 'an answer', seen: reasonOf(error) }
    return { ...named(), outcome: 'differs', differences: [difference] }
  } finally {
    await close()
  }
}
