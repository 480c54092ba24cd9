/** The one value of a request header that a proxy may have doubled. */

/**
 * The value of a header; `undefined` where it has none, or several that differ. A proxy may send a header twice, and Node joins the two
 * values with a comma. Case does not count as a difference.
 */
export function soleValue(header: string | readonly string[] | undefined): string | undefined {
  if (typeof header !== 'string') return undefined
  const [first = '', ...others] = header.split(',').map((value) => value.trim())
  return others.every((value) => value.toLowerCase() === first.toLowerCase()) ? first : undefined
}
