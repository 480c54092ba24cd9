// V8 memory tuning for `run` and `serve`: heap growth percent, 512 MiB threshold.
import { constants, type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks'
import { setFlagsFromString } from 'node:v8'
import { isRecord } from '../../../support/text/is-record.ts'

/** By how much the heap may grow before V8 collects all of it, in percent: at a moderate load, and at most. */
const growth = { min: 25, max: 400 } as const

const secondsOfRest = 10

/** A container with less memory has none to give for speed. */
const ampleBytes = 512 * 2 ** 20

/** Collections of the whole heap. */
export interface Collections {
  readonly lastSecond: number
  /** In the last ten seconds; undefined before they are over. */
  readonly lastSeconds: number | undefined
}

/** Sets V8 for a process that takes and publishes events: little memory at a moderate load, speed at a high one. */
export function tuneGarbageCollection(): void {
  // What lives long while many components start would be allocated in the old generation ever after. There a dead object keeps all that a
  // request made alive until V8 collects the whole heap: with 50 components each event costs a third more.
  setFlagsFromString('--no-allocation-site-pretenuring')
  // A young generation of 4 MB is collected in less time than other threads take to wake up.
  setFlagsFromString('--no-parallel-scavenge')
  limitHeapGrowth()
}

/**
 * V8 frees the objects of a finished HTTP/2 stream, so of a gRPC call, only when it collects the whole heap, and on a busy machine it lets
 * the heap grow to 4 times what is in use: `serve` exceeds a container of 192 MiB.
 */
function limitHeapGrowth(): void {
  let percent: number = growth.min
  let [lastSecond, earlier, seconds] = [0, 0, 0]
  setFlagsFromString(`--heap-growing-percent=${percent}`)
  if (isScarce(process.constrainedMemory())) return
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) if (isWholeHeap(entry)) lastSecond++
  })
  observer.observe({ entryTypes: ['gc'] })
  setInterval(() => {
    const isRestOver = ++seconds === secondsOfRest
    earlier += lastSecond
    percent = nextGrowth(percent, { lastSecond, lastSeconds: isRestOver ? earlier : undefined })
    setFlagsFromString(`--heap-growing-percent=${percent}`)
    lastSecond = 0
    if (isRestOver) [earlier, seconds] = [0, 0]
  }, 1_000).unref()
}

/** True where the limit of memory leaves none for speed. 0 is a limit that Node does not know, as on macOS. */
export function isScarce(limitBytes: number): boolean {
  return limitBytes > 0 && limitBytes < ampleBytes
}

/**
 * The growth for the next second, in percent. More than one collection in a second takes too much processor time; less than one in two
 * seconds leaves memory unused.
 */
export function nextGrowth(percent: number, { lastSecond, lastSeconds }: Collections): number {
  if (lastSecond > 1) return Math.min(percent * 2, growth.max)
  if (lastSeconds !== undefined && lastSeconds < secondsOfRest / 2) return Math.max(percent / 2, growth.min)
  return percent
}

function isWholeHeap(entry: PerformanceEntry): boolean {
  return 'detail' in entry && isRecord(entry.detail) && entry.detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR
}
