const pattern = /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:\.\d+)?(?:[Zz]|[+-](\d{2}):(\d{2}))?$/

/**
 * Is a text a moment as RFC 3339 writes it? Any number of fraction digits; a leap second is fine.
 * `anyZone` takes one without an offset too, as Event Grid does in its own schema.
 */
export function isDateTime(text: string, { anyZone = false } = {}): boolean {
  const match = pattern.exec(text)
  if (!match) return false
  if (!anyZone && !/[Zz]$|[+-]\d{2}:\d{2}$/.test(text)) return false
  const { 1: year, 2: month = '', 3: day = '', 4: hour = '', 5: minute = '', 6: second = '' } = match
  const { 7: offsetHour = '00', 8: offsetMinute = '00' } = match
  // All of two digits, so that they compare as texts.
  return (
    month >= '01' &&
    month <= '12' &&
    day >= '01' &&
    Number(day) <= daysIn(Number(year), month) &&
    hour <= '23' &&
    minute <= '59' &&
    second <= '60' &&
    offsetHour <= '23' &&
    offsetMinute <= '59'
  )
}

function daysIn(year: number, month: string): number {
  if (month === '02') return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28
  return ['04', '06', '09', '11'].includes(month) ? 30 : 31
}
