/** A header of an answer, by its name in lower case. */
type HeaderOf = (name: string) => string | undefined

/**
 * Milliseconds that an answer of Azure asks to be left alone (pure): `retry-after-ms`, `x-ms-retry-after-ms`, or `Retry-After` in seconds or as an HTTP
 * date (RFC 9110, 10.2.3), which is 0 when it is past. `undefined` where it asks for nothing that can be read.
 *
 * @param now in milliseconds since 1970
 */
export function readRetryAfter(header: HeaderOf, now: number): number | undefined {
  for (const name of ['retry-after-ms', 'x-ms-retry-after-ms']) {
    const ms = header(name)?.trim() ?? ''
    if (/^\d{1,10}$/.test(ms)) return Number(ms)
  }
  const after = header('retry-after')?.trim() ?? ''
  if (/^\d{1,9}$/.test(after)) return Number(after) * 1_000
  // Date.parse takes almost anything for a date, "-1" too.
  const date = /^[A-Z][a-z]{2,8},? /.test(after) ? Date.parse(after) : Number.NaN
  return Number.isNaN(date) ? undefined : Math.max(0, date - now)
}
