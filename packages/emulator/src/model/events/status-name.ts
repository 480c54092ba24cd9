// HTTP status names the .NET way, for messages: `ServiceUnavailable`, `RequestEntityTooLarge`.
import { STATUS_CODES } from 'node:http'

// Where .NET, in which Event Grid speaks, calls a status otherwise than the registry does.
const dotNetNames: Readonly<Record<number, string>> = {
  203: 'NonAuthoritativeInformation',
  413: 'RequestEntityTooLarge',
  414: 'RequestUriTooLong',
  416: 'RequestedRangeNotSatisfiable',
  418: '418',
  505: 'HttpVersionNotSupported',
}

/**
 * A status as Event Grid's messages name it, .NET's way: `ServiceUnavailable`; the number where .NET has no
 * name; `Unknown` without an answer.
 */
export function statusName(status: number | undefined): string {
  if (status === undefined) return 'Unknown'
  return dotNetNames[status] ?? STATUS_CODES[status]?.replaceAll(/[^A-Za-z]/g, '') ?? String(status)
}
