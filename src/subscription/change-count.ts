import { type ExistingSubscription, isChanging, settingsText } from './decide-upsert.ts'

/** Counts the changes by others that an upsert sees: operations under way, and settings that differ between two reads. */
export function createChangeCount() {
  let count = 0
  let last: string | undefined
  let handledBefore = 0
  let changing = false
  return {
    /** Counts in what a read has shown; gives the count. `handled`: deliveries that only came because of a change. */
    afterRead(existing: ExistingSubscription | undefined, handled = 0): number {
      if (existing !== undefined && isChanging(existing.subscription)) {
        if (!changing) count++
        changing = true
        last = undefined
        return count
      }
      const now = existing ? settingsText(existing) : 'missing'
      if (last !== undefined && (now !== last || handled > handledBefore)) count++
      changing = false
      last = now
      handledBefore = handled
      return count
    },
    /** After a write of our own: what differs then is our own change. */
    forgetLastRead(): void {
      last = undefined
      changing = false
    },
  }
}
