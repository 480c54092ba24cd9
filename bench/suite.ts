import type { Azure } from './azure.ts'
import type { Child } from './child.ts'
import type { DaprPrograms } from './dapr-programs.ts'
import type { GoBinding } from './go-binding.ts'
import type { LoadOrder, LoadResult, LoadTarget } from './load/generator.ts'
import { runWrk, wrkVersion } from './load/wrk.ts'
import type { Result } from './results.ts'
import type { Scale } from './scale.ts'

/** What a suite has at hand. */
export interface Bench {
  readonly azure: Azure
  readonly go: GoBinding
  readonly dapr: DaprPrograms
  readonly generator: Child<object>
  readonly scale: Scale
  /** Flags of Node for our servers: `--cpu-prof`. */
  readonly nodeFlags: readonly string[]
}

/** One bar of a plot: its runs as dots, their median as its length. */
export interface Bar {
  readonly name: string
  readonly values: readonly number[]
}

/** One curve of the latency plot. */
export interface Curve {
  readonly name: string
  /** Milliseconds by percentile. */
  readonly percentiles: Readonly<Record<string, number>>
}

/** What a suite has found out. */
export interface Findings {
  readonly title: string
  /** How it was measured, in a sentence or two. */
  readonly how: string
  readonly results: readonly Result[]
  readonly bars?: { readonly title: string; readonly unit: string; readonly bars: readonly Bar[] }
  readonly curves?: readonly Curve[]
}

/** A part of the benchmark, which can be run alone. */
export interface Suite {
  readonly name: string
  run(bench: Bench): Promise<Findings>
}

/** A closed loop: by wrk where it is, which takes a list of one target only and whole seconds. */
export function closedLoop({ generator }: Bench, order: LoadOrder): Promise<LoadResult> {
  const byWrk = wrkVersion !== undefined && order.targets.length === 1 && order.ms >= 1_000
  return byWrk ? runWrk(order) : generator.ask<LoadResult>(order)
}

/** The same deliveries with batches in them. */
export function batched(targets: readonly LoadTarget[]): LoadTarget[] {
  return targets.map(({ port, headers }) => ({
    port,
    headers: { ...headers, 'content-type': 'application/cloudevents-batch+json; charset=utf-8' },
  }))
}
