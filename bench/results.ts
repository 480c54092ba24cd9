import type { Sample } from './measure.ts'
import { median, ratios } from './statistics.ts'

/** A figure of ours beside one of a peer's, as a line of the report. */
export interface Result {
  readonly what: string
  readonly ours: string
  readonly peer: string
  readonly peerFigure: string
  readonly ratio: string
  /** The same ratio in processor time for an event, peer's over ours: what a full core would give, whatever else the machine does. */
  readonly cpuRatio: string
  readonly target: string
  /** Absent where there is no target. */
  readonly met?: boolean
}

/** A target in words, and whether a ratio of ours over the peer's reaches it. */
export interface Target {
  readonly text: string
  /** The ratio in processor time has to reach it. @default that of the figures */
  readonly byProcessorTime?: boolean
  reached(ratio: number): boolean
}

export const atLeast = (factor: number): Target => ({
  text: `at least ${factor} x`,
  reached: (ratio) => ratio >= factor,
})
export const atMost = (factor: number): Target => ({ text: `at most ${factor} x`, reached: (ratio) => ratio <= factor })

export const atLeastByProcessorTime = (factor: number): Target => ({
  text: `at least ${factor} x by processor time`,
  byProcessorTime: true,
  reached: (ratio) => ratio >= factor,
})

/** The runs of one case, and how it is called in the report. */
export interface Runs {
  readonly name: string
  readonly samples: readonly Sample[]
}

/** A number with three figures that say something. */
export function figure(value: number): string {
  if (!Number.isFinite(value)) return '-'
  return value >= 100 ? Math.round(value).toLocaleString('en') : value.toPrecision(3)
}

/** Median, and between which values all runs lie. */
export function spread(values: readonly number[], unit: string): string {
  const range = values.length > 1 ? ` (${figure(Math.min(...values))} - ${figure(Math.max(...values))})` : ''
  return `${figure(median(values))} ${unit}${range}`
}

interface Comparison {
  readonly what: string
  readonly unit: string
  readonly ours: Runs | undefined
  readonly peer: Runs | undefined
  readonly target?: Target
}

/** One line for two cases; none if one of them was not run. */
export function compare({ what, unit, ours, peer, target }: Comparison): Result[] {
  if (!ours?.samples.length || !peer?.samples.length) return []
  const valuesOf = ({ samples }: Runs) => samples.map(({ value }) => value)
  const cpuOf = ({ samples }: Runs) => samples.map(({ cpuUs = Number.NaN }) => cpuUs)
  const all = ratios(valuesOf(ours), valuesOf(peer))
  const ratio = median(all)
  const byCpu = median(ratios(cpuOf(peer), cpuOf(ours)))
  return [
    {
      what,
      ours: spread(valuesOf(ours), unit),
      peer: peer.name,
      peerFigure: spread(valuesOf(peer), unit),
      ratio: spread(all, 'x'),
      cpuRatio: Number.isFinite(byCpu) ? `${figure(byCpu)} x` : '',
      target: target?.text ?? '',
      ...(target && { met: target.reached(target.byProcessorTime ? byCpu : ratio) }),
    },
  ]
}

/** One line for a figure of ours that has a target of its own. */
export function absolute(what: string, values: readonly number[], unit: string, below?: number): Result {
  return {
    what,
    ours: spread(values, unit),
    peer: '',
    peerFigure: '',
    ratio: '',
    cpuRatio: '',
    target: below === undefined ? '' : `under ${below} ${unit}`,
    ...(below !== undefined && { met: median(values) < below }),
  }
}
