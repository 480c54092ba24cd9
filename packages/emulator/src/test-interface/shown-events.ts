/** Which of the kept events state and stream show: the newest, and of the others those that wait or failed the longest. */
import type { LeftOut, TrailedEvent, TrailListener } from '../records/event-fate.ts'
import type { EventTrail } from '../records/event-trail.ts'
import { createMemory, type Rank, ranks } from '../records/memory.ts'

/** The most events that are shown, whether or not more are kept. */
const mostShown = 300

/** @param most @default 300 */
export function createShownEvents(trail: EventTrail, most = mostShown) {
  const listeners = new Set<TrailListener>()
  // A memory in which each event counts one: who makes room is decided as for all records.
  const shown = createMemory(most).shelf<TrailedEvent>(tellGone)
  let newest = 0

  function tellGone(event: TrailedEvent): void {
    for (const listener of listeners) listener.gone(event)
  }

  /** Whether an event that is not shown takes the place of one of a lower rank. The newest tenth stays. */
  function returns(rank: Rank): boolean {
    const lower = ranks.slice(0, ranks.indexOf(rank)).reduce((sum, one) => sum + shown.count(one), 0)
    return (rank === 'failed' || rank === 'waiting') && (shown.size < most || lower > most / 10)
  }

  trail.listen({
    changed(event, rank) {
      if (shown.has(event)) shown.changed(event, rank, 1)
      else if (event.key > newest || returns(rank)) shown.add(event, rank, 1)
      newest = Math.max(newest, event.key)
      if (shown.has(event)) for (const listener of listeners) listener.changed(event, rank)
    },
    gone(event) {
      if (!shown.has(event)) return
      shown.remove(event)
      tellGone(event)
    },
    cleared() {
      shown.clear()
      for (const listener of listeners) listener.cleared()
    },
  })

  return {
    limit: most,
    /** Newest first. */
    events: () => shown.all().toSorted((one, other) => other.key - one.key),
    /** Those that are kept and not shown, and those that are not kept. */
    leftOut(): LeftOut {
      const left = trail.leftOut()
      const hidden = (rank: Rank) => trail.count(rank) - shown.count(rank)
      return {
        events: ranks.reduce((sum, rank) => sum + hidden(rank), left.events),
        failed: left.failed + hidden('failed'),
        waiting: left.waiting + hidden('waiting'),
      }
    },
    /** Tells a listener of all changes of what is shown. */
    listen: (listener: TrailListener) => void listeners.add(listener),
  }
}
