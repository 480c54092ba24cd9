import { constants, type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks'
import { setFlagsFromString } from 'node:v8'
import { isRecord } from '../support/is-record.ts'

/** By how much the heap may grow before V8 collects all of it, in percent: at a moderate load, and at most. */
const growth = { min: 50, max: 400 } as const

/** More collections of the whole heap than this take too much processor time; fewer leave memory unused. */
const collectionsPerPeriod = { min: 1, max: 5 } as const
const periodMs = 10_000

/** A container with less memory has none to give for speed. */
const ampleBytes = 512 * 2 ** 20

/**
 * Keeps the heap of a process small at a moderate load. V8 frees the objects of a finished HTTP/2 stream, so of a gRPC call, only when it
 * collects the whole heap, and on a busy machine it lets the heap grow to 4 times what is in use: `serve` exceeds a container of 192 MiB.
 */
export function limitHeapGrowth(): void {
  let percent: number = growth.min
  let collections = 0
  setFlagsFromString(`--heap-growing-percent=${percent}`)
  if (process.constrainedMemory() < ampleBytes) return
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) if (isWholeHeap(entry)) collections++
  })
  observer.observe({ entryTypes: ['gc'] })
  setInterval(() => {
    percent = nextGrowth(percent, collections)
    collections = 0
    setFlagsFromString(`--heap-growing-percent=${percent}`)
  }, periodMs).unref()
}

/** The growth for the next period, in percent, after a period with so many collections of the whole heap. */
export function nextGrowth(percent: number, collections: number): number {
  if (collections > collectionsPerPeriod.max) return Math.min(percent * 2, growth.max)
  if (collections < collectionsPerPeriod.min) return Math.max(percent / 2, growth.min)
  return percent
}

function isWholeHeap(entry: PerformanceEntry): boolean {
  return 'detail' in entry && isRecord(entry.detail) && entry.detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR
}
