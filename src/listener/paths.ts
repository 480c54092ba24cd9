/** The path that Event Grid's deliveries have where no ingress rewrites it (specification, section 4.1). */
const defaultPath = '/api/events'

/** Does a request target name one of the listener's paths? Its query counts for nothing. */
export type PathCheck = (target: string) => boolean

/**
 * Accepts `/api/events` and the path of `subscriberEndpoint`, since an ingress may rewrite or not, and nothing else.
 * Spellings that RFC 3986 (6.2.2) calls equal are equal; dot segments and doubled slashes are not resolved.
 */
export function createPathCheck(subscriberEndpoint: string): PathCheck {
  const paths = new Set([defaultPath, canonicalPath(new URL(subscriberEndpoint).pathname)])
  return (target) => {
    const path = pathOf(target)
    return paths.has(path) || (path.includes('%') && paths.has(canonicalPath(path)))
  }
}

/** The path of a request target, in origin form (`/a?b`) or, as a server must also take it, absolute form (`http://host/a?b`). */
function pathOf(target: string): string {
  const start = target.startsWith('/') ? 0 : pathStartOfAbsolute(target)
  const query = target.indexOf('?', start)
  return query === -1 ? target.slice(start) : target.slice(start, query)
}

function pathStartOfAbsolute(target: string): number {
  const authority = target.indexOf('://')
  if (authority === -1) return target.length
  // A slash behind a question mark or a hash is no path.
  const end = target.slice(authority + 3).search(/[/?#]/)
  return end === -1 ? target.length : authority + 3 + end
}

const unreserved = /^[A-Za-z0-9._~-]$/

/** Percent-encodings of unreserved characters are decoded, those of others get upper-case digits. */
function canonicalPath(path: string): string {
  return path.replace(/%[0-9a-fA-F]{2}/g, (encoded) => {
    const character = String.fromCharCode(Number.parseInt(encoded.slice(1), 16))
    return unreserved.test(character) ? character : encoded.toUpperCase()
  })
}
