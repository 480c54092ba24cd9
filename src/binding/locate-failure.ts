/** Where in the file the metadata field stands that an error points to. */
import { BindingError, type BindingErrorCode, type ErrorPlace, errorPlaceInWords } from '../core/errors.ts'
import { readPlace } from '../core/file-place.ts'
import { type Logger, loggerBy } from '../core/logger.ts'
import type { Side } from '../metadata/fields/field-entry.ts'
import { type FieldName, findField } from '../metadata/fields/find-field.ts'
import { isRecord } from '../support/text/is-record.ts'

/** The metadata fields that a failure of a side most probably comes from; the first that is given counts. */
const fields: Readonly<Record<Side, Partial<Record<BindingErrorCode, readonly FieldName[]>>>> = {
  input: {
    PORT_UNAVAILABLE: ['handshakePort'],
    SCOPE_NOT_FOUND: ['scope'],
    CREDENTIALS_REJECTED: ['clientSecret'],
    PERMISSION_DENIED: ['clientId'],
    HANDSHAKE_FAILED: ['subscriberEndpoint'],
  },
  output: {
    CREDENTIALS_REJECTED: ['accessKey', 'clientSecret'],
    PERMISSION_DENIED: ['clientId'],
    PUBLISH_REJECTED: ['topicEndpoint'],
    PUBLISH_UNAVAILABLE: ['topicEndpoint'],
  },
}

/** Field and place of what a failure comes from; `undefined` where it is not known. */
export type PlaceOf = (code: string) => ErrorPlace | undefined

export function placesOf(metadata: unknown, side: Side): PlaceOf {
  const places = isRecord(metadata) && isRecord(metadata.places) ? metadata.places.properties : undefined
  const fieldsOf = new Map<string, readonly FieldName[]>(Object.entries(fields[side]))
  return (code) => {
    if (!isRecord(places)) return undefined
    for (const field of fieldsOf.get(code) ?? []) {
      // The component has the name as it was written, an alias for instance.
      const [, at] = Object.entries(places).find(([name]) => findField(name)?.name === field) ?? []
      const place = readPlace(at)
      if (place) return { field, ...place }
    }
    return undefined
  }
}

export function locateError(error: unknown, placeOf: PlaceOf): unknown {
  if (!(error instanceof BindingError)) return error
  const place = placeOf(error.code)
  if (place === undefined) return error
  const { code, what, fix, cause, issues, details } = error
  return new BindingError(code, { what, fix, place, cause, issues, details })
}

/** A logger that adds `place` to a record whose field `code` has one. */
export function locatingLogger(logger: Logger, placeOf: PlaceOf): Logger {
  return loggerBy((level, message, fields) => {
    const place = typeof fields?.code === 'string' ? placeOf(fields.code) : undefined
    logger[level](message, place === undefined ? fields : { ...fields, place: errorPlaceInWords(place) })
  })
}
