import { oneLine } from '../support/text.ts'

const maxLength = 1_000
const hidden = '(redacted)'

/**
 * Makes somebody else's text fit to be shown: queries of URLs and the given secrets are hidden, in the spellings in
 * which a URL or JSON would hold them, line breaks become spaces, and what is over 1,000 characters is cut off.
 */
export function scrub(text: string, secrets: readonly string[] = []): string {
  let shown = text
  for (const secret of secrets) {
    if (secret === '') continue
    // Half a surrogate pair has no place in a URL, and must not end the hiding by an error.
    const inUrl = encodeURIComponent(secret.toWellFormed())
    for (const spelling of new Set([secret, inUrl, JSON.stringify(secret).slice(1, -1)])) {
      shown = shown.replaceAll(spelling, hidden)
    }
  }
  shown = shown
    // A URL whole, query or not: a pattern that looked for the query would look through a long
    // text once for each of its URLs.
    .replaceAll(/https?:\/\/[^\s"'<>]*/gi, hideQuery)
  return oneLine(shown, maxLength)
}

function hideQuery(url: string): string {
  const [base = '', query] = url.split(/[?#]/, 2)
  return query === undefined ? base : `${base}?${hidden}`
}
