// Secrets and URL queries hidden in shown texts; cut at 1,000 characters.
import { oneLine } from '../support/text/text.ts'

const maxLength = 1_000
const hidden = '(redacted)'

/** Hides queries of URLs and the given secrets in a text, also as spelled in a URL or in JSON. */
export function hideSecrets(text: string, secrets: readonly string[]): string {
  let shown = text
  for (const secret of secrets) {
    if (secret === '') continue
    // encodeURIComponent throws for half a surrogate pair.
    const inUrl = encodeURIComponent(secret.toWellFormed())
    for (const spelling of new Set([secret, inUrl, JSON.stringify(secret).slice(1, -1)])) {
      shown = shown.replaceAll(spelling, hidden)
    }
  }
  // Matches whole URLs, with or without a query: a pattern that required the query would take quadratic time on a text with
  // many URLs.
  return shown.replaceAll(/https?:\/\/[^\s"'<>]*/gi, hideQuery)
}

/**
 * Makes a text from outside fit to be shown: {@link hideSecrets}, turns line breaks into spaces, and cuts the text at 1,000
 * characters.
 */
export function scrub(text: string, secrets: readonly string[] = []): string {
  return oneLine(hideSecrets(text, secrets), maxLength)
}

function hideQuery(url: string): string {
  const [base = '', query] = url.split(/[?#]/, 2)
  return query === undefined ? base : `${base}?${hidden}`
}
