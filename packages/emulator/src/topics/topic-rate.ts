// Throttling of a topic: 5,000 events or 5 MiB per second, 64 KB steps.
import type { Clock } from '../model/time/clock.ts'

/** The limits of a custom topic per second; an event counts once per 64 KB (Event Grid: quotas-limits). */
export const topicRate = { events: 5000, bytes: 5 * 1024 * 1024, step: 64 * 1024 } as const

/** Counts events and bytes per topic and second. */
export function createTopicRates(clock: Clock) {
  const seconds = new Map<string, { readonly start: number; events: number; bytes: number }>()
  return {
    /** Whether the topic accepts these events in this second; counts them if so. @param sizes in bytes */
    take(topicId: string, sizes: readonly number[]): boolean {
      const now = clock.now()
      let second = seconds.get(topicId)
      if (!second || now - second.start >= 1000) {
        second = { start: now, events: 0, bytes: 0 }
        seconds.set(topicId, second)
      }
      const events = sizes.reduce((sum, size) => sum + Math.max(Math.ceil(size / topicRate.step), 1), 0)
      const bytes = sizes.reduce((sum, size) => sum + size, 0)
      if (second.events + events > topicRate.events || second.bytes + bytes > topicRate.bytes) return false
      second.events += events
      second.bytes += bytes
      return true
    },
  }
}
