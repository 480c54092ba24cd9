/** Where in the file the metadata field stands that an error points to. */

import { readPlace, type Side } from '../core/component.ts'
import { BindingError, type BindingErrorCode, type ErrorPlace, errorPlaceInWords } from '../core/errors.ts'
import { type Logger, loggerBy } from '../core/logger.ts'
import { type FieldName, findField } from '../metadata/fields/find-field.ts'
import { isRecord } from '../support/text/json-text.ts'

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

/** Field and place of what a failure comes from, where the source of its component tells places. */
function placeOf(code: string, source: unknown, side: Side): ErrorPlace | undefined {
  const places = isRecord(source) && isRecord(source.places) ? source.places.properties : undefined
  if (!isRecord(places)) return undefined
  for (const field of new Map<string, readonly FieldName[]>(Object.entries(fields[side])).get(code) ?? []) {
    // The component has the name as it was written, an alias for instance.
    const [, at] = Object.entries(places).find(([name]) => findField(name)?.name === field) ?? []
    const place = readPlace(at)
    if (place) return { field, ...place }
  }
  return undefined
}

/** @param source what the metadata of the component came from */
export function locateError(error: unknown, source: unknown, side: Side): unknown {
  if (!(error instanceof BindingError)) return error
  const place = placeOf(error.code, source, side)
  if (place === undefined) return error
  const { code, what, fix, cause, issues, details } = error
  return new BindingError(code, { what, fix, place, cause, issues, details })
}

/** A logger that adds `place` to a record whose field `code` has one. */
export function locatingLogger(logger: Logger, source: () => unknown, side: Side): Logger {
  return loggerBy((level, message, fields) => {
    const place = typeof fields?.code === 'string' ? placeOf(fields.code, source(), side) : undefined
    logger[level](message, place === undefined ? fields : { ...fields, place: errorPlaceInWords(place) })
  })
}
