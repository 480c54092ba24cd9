const pattern = /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:\.\d+)?(?:[Zz]|[+-](\d{2}):(\d{2}))?$/

/**
 * Is a text a moment as RFC 3339 writes it? Any number of fraction digits; a leap second is fine.
 * `anyZone` takes one without an offset too, as Event Grid does in its own schema.
 */
export function isDateTime(text: string, { anyZone = false } = {}): boolean {
  const match = pattern.exec(text)
  if (!match) return false
  if (!anyZone && !/[Zz]$|[+-]\d{2}:\d{2}$/.test(text)) return false
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0, offsetHour = 0, offsetMinute = 0] = match
    .slice(1)
    .map((part) => Number(part ?? 0))
  const daysInMonth = new Date(Date.UTC(2000 + (year % 400), month, 0)).getUTCDate()
  return (
    month >= 1 &&
    month <= 12 &&
    day >= 1 &&
    day <= daysInMonth &&
    hour <= 23 &&
    minute <= 59 &&
    second <= 60 &&
    offsetHour <= 23 &&
    offsetMinute <= 59
  )
}
