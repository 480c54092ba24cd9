/** Seconds of an ISO 8601 duration: `PT60M` and `PT1H` are the same. */

const part = (unit: string) => `(?:(\\d+(?:[.,]\\d+)?)${unit})?`
const duration = new RegExp(`^P${part('W')}${part('D')}(?:T${part('H')}${part('M')}${part('S')})?$`, 'i')

/** The seconds of a duration of weeks, days, hours, minutes and seconds (ISO 8601); `undefined` for any other text. */
export function durationSeconds(text: string): number | undefined {
  const parts = duration.exec(text)
  if (!parts || /[PT]$/i.test(text)) return undefined
  const [weeks = 0, days = 0, hours = 0, minutes = 0, seconds = 0] = parts
    .slice(1)
    .map((count = '0') => Number(count.replace(',', '.')))
  return (((weeks * 7 + days) * 24 + hours) * 60 + minutes) * 60 + seconds
}
