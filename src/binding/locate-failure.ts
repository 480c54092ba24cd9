import { BindingError, type BindingErrorCode, whatIsWrong } from '../core/errors.ts'
import { type Logger, loggerBy } from '../core/logger.ts'
import { type FieldName, findField } from '../metadata/fields.ts'
import { isRecord } from '../support/is-record.ts'

/** The metadata field that a failure most probably comes from. */
const fields: Readonly<Partial<Record<BindingErrorCode, FieldName>>> = {
  PORT_UNAVAILABLE: 'handshakePort',
  SCOPE_NOT_FOUND: 'scope',
  CREDENTIALS_REJECTED: 'clientSecret',
  PERMISSION_DENIED: 'clientId',
  HANDSHAKE_FAILED: 'subscriberEndpoint',
}

/** Names field and place of what a failure comes from, `scope at orders.yaml:24:14`; `undefined` where it is not known. */
export type PlaceOf = (code: string) => string | undefined

export function placesOf(metadata: unknown): PlaceOf {
  const places = isRecord(metadata) && isRecord(metadata.places) ? metadata.places.properties : undefined
  return (code) => {
    const [, field] = Object.entries(fields).find(([known]) => known === code) ?? []
    if (field === undefined || !isRecord(places)) return undefined
    // The component has the name as it was written, an alias for instance.
    const [, at] = Object.entries(places).find(([name]) => findField(name)?.name === field) ?? []
    return typeof at === 'string' ? `${field} at ${at}` : undefined
  }
}

export function locateError(error: unknown, placeOf: PlaceOf): unknown {
  if (!(error instanceof BindingError)) return error
  const place = placeOf(error.code)
  if (place === undefined) return error
  const { code, fix, cause, issues, details } = error
  const what = `${whatIsWrong(error)} (${place})`
  return new BindingError(code, { what, cause, issues, details, ...(fix !== undefined && { fix }) })
}

export function locatingLogger(logger: Logger, placeOf: PlaceOf): Logger {
  const located = (message: string) => {
    const code = /^[A-Z_]+(?=: )/.exec(message)?.[0] ?? ''
    const place = placeOf(code)
    // In front: a remedy at the end is a line to paste.
    return place === undefined ? message : `${code}: (${place}) ${message.slice(code.length + 2)}`
  }
  return loggerBy((level, message, more) => logger[level](located(message), more))
}
