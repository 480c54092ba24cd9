import { type CheckId, checkIds } from './check-ids.ts'

export interface Wanted {
  /** Empty: no restriction. */
  readonly only: readonly CheckId[]
  readonly skip: readonly CheckId[]
  readonly offline: boolean
  readonly event: boolean
  readonly roundTrip: boolean
}

/** The ids of the checks to run. A sample event alone selects the files and the filters. */
export function selectChecks({ only, skip, offline, event, roundTrip }: Wanted): ReadonlySet<CheckId> {
  const asked = checkIds.filter((id) => {
    if (only.length > 0) return only.includes(id)
    if (id.startsWith('files/')) return true
    if (id === 'filters/event') return event
    if (offline) return id === 'machine/port'
    return roundTrip || !event
  })
  return new Set(asked.filter((id) => !skip.includes(id)))
}
