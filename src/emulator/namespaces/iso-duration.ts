const shape = /^P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/

/** An ISO 8601 duration of days, hours, minutes and seconds in milliseconds; `undefined` for other text. */
export function isoDurationMs(text: string): number | undefined {
  const parts = shape.exec(text)
  if (!parts || !/\d/.test(text)) return undefined
  const [days = 0, hours = 0, minutes = 0, seconds = 0] = parts.slice(1).map((part) => Number(part ?? 0))
  return (((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 1000
}
