/** Which paths of URLs are ours: `/api/events` and that of `subscriberEndpoint`, however they are encoded. */

/** The path of Event Grid's deliveries where no ingress rewrites it. */
export const defaultPath = '/api/events'

/** Is the path of a request target one of the listener's? Ignores the query. */
export type PathCheck = (target: string) => boolean

/**
 * Accepts `/api/events` and the paths of `subscriberEndpoint`, the present one and former ones, because an ingress may rewrite or not. Percent-encodings that RFC 3986
 * (6.2.2) calls equal are equal; dot segments and doubled slashes are not resolved.
 */
export function createPathCheck(...subscriberEndpoints: readonly string[]): PathCheck {
  const paths = new Set([defaultPath, ...subscriberEndpoints.map((url) => canonicalPath(new URL(url).pathname))])
  return (target) => {
    const path = pathOf(target)
    return paths.has(path) || (path.includes('%') && paths.has(canonicalPath(path)))
  }
}

/** The path of a request target in origin form (`/a?b`) or absolute form (`http://host/a?b`), which servers must accept too. */
export function pathOf(target: string): string {
  const start = target.startsWith('/') ? 0 : pathStartOfAbsolute(target)
  const query = target.indexOf('?', start)
  return query === -1 ? target.slice(start) : target.slice(start, query)
}

function pathStartOfAbsolute(target: string): number {
  const authority = target.indexOf('://')
  if (authority === -1) return target.length
  // A slash behind a question mark or a hash does not begin the path.
  const end = target.slice(authority + 3).search(/[/?#]/)
  return end === -1 ? target.length : authority + 3 + end
}

const unreserved = /^[A-Za-z0-9._~-]$/

/** Decodes percent-encodings of unreserved characters; the other encodings get upper-case digits. */
function canonicalPath(path: string): string {
  return path.replace(/%[0-9a-fA-F]{2}/g, (encoded) => {
    const character = String.fromCharCode(Number.parseInt(encoded.slice(1), 16))
    return unreserved.test(character) ? character : encoded.toUpperCase()
  })
}
