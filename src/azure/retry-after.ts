/** What the headers of an answer of Azure say: the pause that it asks for (`Retry-After`), and Azure's id of the request. */

/**
 * The pause that an answer of Azure asks for, in milliseconds: `retry-after-ms`, `x-ms-retry-after-ms`, or `Retry-After`
 * in seconds or as an HTTP date (RFC 9110, 10.2.3). A past date gives 0; `undefined` where it asks for no pause, or the header
 * is not readable.
 *
 * @param header gives a header of the answer by its name in lower case
 * @param now in milliseconds since 1970
 */
export function readRetryAfter(header: (name: string) => string | undefined, now: number): number | undefined {
  for (const name of ['retry-after-ms', 'x-ms-retry-after-ms']) {
    const ms = header(name)?.trim() ?? ''
    if (/^\d{1,10}$/.test(ms)) return Number(ms)
  }
  const after = header('retry-after')?.trim() ?? ''
  if (/^\d{1,9}$/.test(after)) return Number(after) * 1_000
  // Date.parse accepts almost any text, even "-1".
  const date = /^[A-Z][a-z]{2,8},? /.test(after) ? Date.parse(after) : Number.NaN
  return Number.isNaN(date) ? undefined : Math.max(0, date - now)
}

/** Azure's id of a request: a UUID. A header of another form may be anything, also a secret that something on the way has put there. */
export function readRequestId(header: string | undefined): string | undefined {
  return header !== undefined && /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i.test(header) ? header : undefined
}
