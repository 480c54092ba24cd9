/** The recorded requests with what may be a secret left out of their bodies too: those of Resource Manager and Entra hold passwords. */
import { isRecord } from '../../../../src/support/text/is-record.ts'
import { shownText } from '../model/shown-text.ts'
import type { Records, RequestRecord } from '../records/record-types.ts'

/** A part of the emulator whose requests are recorded. */
export type RequestRoute = RequestRecord['face']

/** A recorded request without its secrets. */
export interface ShownRequest extends Omit<RequestRecord, 'face'> {
  readonly route: RequestRoute
}

const redacted = '(redacted)'

/** Members whose values prove who somebody is. `key` alone is what a filter looks at. */
const secretNames = /secret|password|assertion|token|credential|connectionString|sas|^(key|accessKey|sharedKey)\d$/i

/** Those of the records, oldest first. @param route those of one part alone. @default all */
export function shownRequests(records: Pick<Records, 'requests'>, route?: RequestRoute): readonly ShownRequest[] {
  const wanted = records.requests.filter(({ face }) => route === undefined || face === route)
  return wanted.map(({ face, body, ...request }) => ({
    ...{ ...request, route: face },
    ...(body !== undefined && { body: hasEvents(face) ? body : shownBody(body) }),
  }))
}

/** The body of a publish is an event, which its publisher asks for as it was. */
const hasEvents = (face: RequestRoute) => face === 'topic' || face === 'namespace'

function shownBody(body: unknown): unknown {
  if (typeof body === 'string') return shownText(body)
  if (Array.isArray(body)) return body.map(shownBody)
  if (!isRecord(body)) return body
  // A delivery attribute says by itself that it is secret.
  const isSecret = body.isSecret === true
  return Object.fromEntries(
    Object.entries(body).map(([name, value]) => {
      const hidden = (secretNames.test(name) && name !== 'isSecret') || (isSecret && name === 'value')
      return [name, hidden ? redacted : shownBody(value)]
    }),
  )
}
