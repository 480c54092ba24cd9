/** How many events and attempts there were, in all and in each of the last 120 seconds, and how long answers took. */
/**
 * What is counted. `failed` counts attempts of push delivery, `refused` requests to publish, the others events of push and pull
 * delivery: one published event may be delivered to several subscriptions. An event that a receiver acknowledges is delivered.
 */
export type FigureName = 'published' | 'delivered' | 'failed' | 'deadLettered' | 'dropped' | 'refused'

export const secondsRemembered = 120

/** The maximum number of answers per second for its percentiles: the latest ones. */
const samplesPerSecond = 512

interface Second {
  published: number
  delivered: number
  failed: number
  answers: number
  readonly samples: number[]
}

const noTotals = { published: 0, delivered: 0, failed: 0, deadLettered: 0, dropped: 0, refused: 0 }

export type Figures = ReturnType<typeof createFigures>

/** Counts, in all and by the second. @param now milliseconds since 1970 */
export function createFigures(now: () => number) {
  const totals = { ...noTotals }
  const seconds = new Map<number, Second>()

  function current(): Second {
    const second = Math.floor(now() / 1000)
    const known = seconds.get(second)
    if (known) return known
    // Seconds are in ascending order, so the oldest come first.
    for (const old of seconds.keys()) {
      if (old > second - secondsRemembered) break
      seconds.delete(old)
    }
    const fresh = { published: 0, delivered: 0, failed: 0, answers: 0, samples: [] }
    seconds.set(second, fresh)
    return fresh
  }

  return {
    add(name: FigureName, count = 1): void {
      totals[name] += count
      if (name === 'published' || name === 'delivered' || name === 'failed') current()[name] += count
    },
    /** A subscriber's answer came after so many milliseconds. */
    answered(ms: number): void {
      const second = current()
      second.samples[second.answers++ % samplesPerSecond] = ms
    },
    /** Counts from 0 again. */
    clear(): void {
      Object.assign(totals, noTotals)
      seconds.clear()
    },
    totals: (): Readonly<Record<FigureName, number>> => ({ ...totals }),
    /** The last seconds, oldest first, quiet ones too; the running one comes last. */
    series(count = secondsRemembered) {
      const last = Math.floor(now() / 1000)
      return Array.from({ length: count }, (_, index) => {
        const second = last - count + 1 + index
        return pointOf(second, seconds.get(second))
      })
    },
  }
}

/**
 * The counts of a second, with its beginning in milliseconds since 1970. Half of the subscribers' answers took no longer
 * than `median` milliseconds, 95 of 100 no longer than `p95`; both are absent in a second without answers.
 */
function pointOf(second: number, found: Second | undefined) {
  const { published = 0, delivered = 0, failed = 0, samples = [] } = found ?? {}
  const counted = { at: second * 1000, published, delivered, failed }
  if (samples.length === 0) return counted
  const sorted = samples.toSorted((one, other) => one - other)
  return { ...counted, median: percentile(sorted, 0.5), p95: percentile(sorted, 0.95) }
}

/** The smallest of the values that so large a part of them doesn't exceed. @param sorted ascending, one at least */
export function percentile(sorted: readonly number[], part: number): number {
  const index = Math.max(Math.ceil(sorted.length * part) - 1, 0)
  return Math.round((sorted[index] ?? 0) * 10) / 10
}
