import { histogram, note, paint, percentile, table } from './show.ts'

/** What became of each event of the demo. */
export interface Ledger {
  readonly ids: readonly string[]
  /** The event whose first try the handler fails. */
  readonly failsOnce: string
  /** The event that the handler rejects. */
  readonly rejected: string
  published(id: string): void
  failed(): void
  /** `tries`: how many tries went before this one. */
  handled(id: string, tries: number): void
  deadLettered(events: readonly unknown[]): void
  delivered(): number
  /** Prints the table; true if every event was handled once or dead-lettered, as it should be. */
  report(): boolean
}

/** Keeps the books over `total` events. */
export function createLedger(total: number): Ledger {
  const ids = Array.from({ length: total }, (_, index) => `demo-${String(index + 1).padStart(4, '0')}`)
  const failsOnce = ids[Math.floor(total / 3)] ?? ''
  const rejected = ids[Math.floor(total / 2)] ?? ''
  const publishedAt = new Map<string, number>()
  const latencies = new Map<string, number>()
  const redelivered = new Set<string>()
  const deadLetters = new Set<string>()
  let duplicates = 0
  let failures = 0

  const verdict = (id: string): boolean =>
    id === rejected ? deadLetters.has(id) && !latencies.has(id) : latencies.has(id) && !deadLetters.has(id)

  return {
    ids,
    failsOnce,
    rejected,
    published: (id) => void publishedAt.set(id, performance.now()),
    failed() {
      failures += 1
    },
    handled(id, tries) {
      if (latencies.has(id)) duplicates += 1
      latencies.set(id, performance.now() - (publishedAt.get(id) ?? Number.NaN))
      if (tries > 0) redelivered.add(id)
    },
    deadLettered(events) {
      for (const event of events) {
        if (typeof event === 'object' && event !== null && 'id' in event) deadLetters.add(String(event.id))
      }
    },
    delivered: () => latencies.size,
    report() {
      const values = [...latencies.values()]
      const milliseconds = (value: number) => `${value.toFixed(1)} ms`
      table([
        ['what', 'events'],
        ['published', String(publishedAt.size)],
        ['delivered', String(latencies.size)],
        ['redelivered', String(redelivered.size)],
        ['dead-lettered', String(deadLetters.size)],
        ['duplicates', String(duplicates)],
      ])
      note('')
      note(`latency  p50 ${milliseconds(percentile(values, 0.5))}  p99 ${milliseconds(percentile(values, 0.99))}`)
      const [least, most] = [Math.min(...values), Math.max(...values)]
      note(`${milliseconds(least)} ${histogram(values)} ${milliseconds(most)}`)
      note('This is the time from create to the handler. All events are published')
      note('at once, so most of it is waiting in line.')
      note('The slowest event is the one that was tried twice.')
      const missing = ids.filter((id) => !verdict(id))
      const complete = missing.length === 0 && failures === 1 && redelivered.has(failsOnce)
      note('')
      note(
        complete ? paint('green', `All ${total} events are accounted for.`) : paint('red', 'The books do not balance.'),
      )
      if (missing.length > 0) note(`unaccounted for: ${missing.slice(0, 10).join(', ')}`)
      return complete
    },
  }
}
