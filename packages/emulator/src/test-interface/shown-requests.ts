/** The recorded requests as the interface shows them: `route` in place of `face`. */
import type { Records, RequestRecord } from '../records/record-types.ts'

/** A part of the emulator whose requests are recorded. */
export type RequestRoute = RequestRecord['face']

/** A recorded request. */
export interface ShownRequest extends Omit<RequestRecord, 'face'> {
  readonly route: RequestRoute
}

/** Those of the records, oldest first. @param route those of one part alone. @default all */
export function shownRequests(records: Pick<Records, 'requests'>, route?: RequestRoute): readonly ShownRequest[] {
  const wanted = records.requests.filter(({ face }) => route === undefined || face === route)
  return wanted.map(({ face, ...request }) => ({ ...request, route: face }))
}
