/** Where a public URL is really served: a URL with the same meaning, or undefined to go to the public one. */
export type Ingress = (url: URL) => string | undefined

/** Sends the public URLs that begin with `from` to `to` instead; the rest of path and query is kept. */
export interface IngressRule {
  /** As far as it goes: `https://orders.example.com/`. A path ends at a slash, so `/a` is no beginning of `/ab`. */
  readonly from: string
  /** Such as `http://127.0.0.1:9000/`. */
  readonly to: string
}

/**
 * A function of rules, the first of which whose `from` begins the URL decides; or the
 * function that stands in their place. Throws a TypeError for a rule that lacks one of its URLs.
 */
export function ingressOf(ingress: readonly IngressRule[] | Ingress): Ingress {
  if (typeof ingress === 'function') return ingress
  const rules = ingress.map(({ from, to }) => ({ base: urlOf('from', from), to: urlOf('to', to).href }))
  return (url) => {
    for (const { base, to } of rules) {
      if (url.origin !== base.origin || !startsWithPath(url.pathname, base.pathname)) continue
      const rest = url.pathname.slice(base.pathname.replace(/\/$/, '').length)
      return `${to.replace(/\/$/, '')}${rest === '/' && base.pathname === '/' ? '/' : rest}${url.search}`
    }
    return undefined
  }
}

/** Can this be `from` or `to` of a rule: an http or https URL, written whole? */
export const isIngressUrl = (value: unknown): value is string =>
  typeof value === 'string' && /^https?:\/\/[^/]/i.test(value) && URL.canParse(value)

function urlOf(member: keyof IngressRule, value: unknown): URL {
  if (isIngressUrl(value)) return new URL(value)
  const form = "{ from: 'https://orders.example.com/', to: 'http://127.0.0.1:9000/' }"
  throw new TypeError(`an ingress rule is two URLs, as in ${form}; its ${member} is none`)
}

function startsWithPath(path: string, prefix: string): boolean {
  const base = prefix.replace(/\/$/, '')
  return path === base || path.startsWith(`${base}/`)
}
