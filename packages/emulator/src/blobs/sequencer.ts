/** The sequencers of an account's events: texts of which a later one is the greater, also after a restart. */
import type { PersistedValues } from '../state/persisted-values.ts'

/** Two numbers, of 32 capital and 16 small digits, as Azure has them (recorded). The first one counts starts. */
export function createSequencer(persisted: PersistedValues, account: string, now: number): () => string {
  const before = Number(persisted.get('blob sequencer', account) ?? 0)
  // Without a state file time is what tells a later start from an earlier one.
  const start = Math.max(Math.floor(now), before + 1)
  persisted.put('blob sequencer', account, String(start))
  const high = start.toString(16).toUpperCase().padStart(32, '0')
  let count = 0
  return () => {
    count++
    return high + count.toString(16).padStart(16, '0')
  }
}
