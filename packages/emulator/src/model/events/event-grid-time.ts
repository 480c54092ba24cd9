// Time formats: seven fraction digits, and .NET's `1/5/2026 2:07:09 PM`.

/**
 * A time with seven fraction digits, as Event Grid writes them into events and URLs.
 * @param at milliseconds since 1970
 */
export function preciseTime(at: number): string {
  return new Date(at).toISOString().replace('Z', '0000Z')
}

/**
 * A time of RFC 3339, also with a space in it, as a namespace writes it: in UTC and without zeros at the end of its fraction
 * (recorded tests of Azure's SDKs). Undefined for any other value.
 */
export function utcTime(value: unknown): string | undefined {
  const shape = /^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(?:\.(\d+))?([Zz]|[+-]\d\d:\d\d)$/
  const [, date, time, fraction = '', zone] = (typeof value === 'string' && shape.exec(value)) || []
  const at = Date.parse(`${date}T${time}${zone?.toUpperCase()}`)
  if (Number.isNaN(at)) return undefined
  // The look behind keeps it in linear time: a run of zeros is tried once.
  const digits = fraction.replace(/(?<!0)0+$/, '')
  return new Date(at).toISOString().replace('.000Z', digits === '' ? 'Z' : `.${digits}Z`)
}

/** A time as Event Grid writes it into messages: `1/5/2026 2:07:09 PM`, in UTC. */
export function dotNetTime(at: number): string {
  // Not by Intl: its spaces depend on the version of ICU.
  const time = new Date(at)
  const hours = time.getUTCHours()
  const two = (part: number) => String(part).padStart(2, '0')
  const date = `${time.getUTCMonth() + 1}/${time.getUTCDate()}/${time.getUTCFullYear()}`
  return `${date} ${hours % 12 || 12}:${two(time.getUTCMinutes())}:${two(time.getUTCSeconds())} ${hours < 12 ? 'AM' : 'PM'}`
}

/** Reads `1/5/2026 2:07:09 PM` as UTC, also `2:7:9 PM`, as Java's SDK writes it; undefined for any other text. */
export function parseDotNetTime(text: string): number | undefined {
  const parts = /^(\d{1,2})\/(\d{1,2})\/(\d{4}) (\d{1,2}):(\d{1,2}):(\d{1,2}) (AM|PM)$/i.exec(text.trim())
  if (!parts) return undefined
  const [month = 0, day = 0, year = 0, hour = 0, minute = 0, second = 0] = parts.slice(1, 7).map(Number)
  if (month < 1 || month > 12 || day < 1 || day > 31 || hour < 1 || hour > 12 || minute > 59 || second > 59)
    return undefined
  const hours = (hour % 12) + (parts[7]?.toUpperCase() === 'PM' ? 12 : 0)
  return Date.UTC(year, month - 1, day, hours, minute, second)
}
