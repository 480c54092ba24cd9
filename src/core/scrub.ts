import { oneLine } from '../support/text.ts'

const maxLength = 1_000
const hidden = '(redacted)'

/**
 * Makes a text from outside fit to be shown: hides queries of URLs and the given secrets, also as spelled in a URL or in JSON,
 * turns line breaks into spaces, and cuts the text at 1,000 characters.
 */
export function scrub(text: string, secrets: readonly string[] = []): string {
  let shown = text
  for (const secret of secrets) {
    if (secret === '') continue
    // encodeURIComponent throws for half a surrogate pair.
    const inUrl = encodeURIComponent(secret.toWellFormed())
    for (const spelling of new Set([secret, inUrl, JSON.stringify(secret).slice(1, -1)])) {
      shown = shown.replaceAll(spelling, hidden)
    }
  }
  shown = shown
    // Matches whole URLs, with or without a query: a pattern that required the query would take
    // quadratic time on a text with many URLs.
    .replaceAll(/https?:\/\/[^\s"'<>]*/gi, hideQuery)
  return oneLine(shown, maxLength)
}

function hideQuery(url: string): string {
  const [base = '', query] = url.split(/[?#]/, 2)
  return query === undefined ? base : `${base}?${hidden}`
}
