const time = /(?:[01]\d|2[0-3]):[0-5]\d:(?:[0-5]\d|60)(?:\.\d+)?/
const zone = /[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d/
const pattern = new RegExp(`^(\\d{4}-\\d{2}-\\d{2})[Tt]${time.source}(${zone.source})?$`)

/**
 * Is a text a moment as RFC 3339 writes it? Any number of fraction digits; a leap second is fine.
 * `anyZone` takes one without an offset too, as Event Grid does in its own schema.
 */
export function isDateTime(text: string, { anyZone = false } = {}): boolean {
  const [, date = '', offset] = pattern.exec(text) ?? []
  return (anyZone || offset !== undefined) && isDate(date)
}

/** `Date` takes 30 February for 2 March, so the date must come back as it was. */
function isDate(text: string): boolean {
  const at = Date.parse(`${text}T00:00:00Z`)
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(text)
}
