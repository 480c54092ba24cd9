// Ingress rules `from` and `to`: where a public URL is really served.

/** Maps a public URL to the URL that serves it; undefined to use the public one. */
export type Ingress = (url: URL) => string | undefined

/** Sends the public URLs that begin with `from` to `to`, with the rest of the path and the query. */
export interface IngressRule {
  /** Such as `https://orders.example.com/`. Path segments match whole: `/a` does not match `/ab`. */
  readonly from: string
  /** Such as `http://127.0.0.1:9000/`. */
  readonly to: string
}

/**
 * Makes a function of rules: the first rule whose `from` begins the URL applies. Returns a function as it is. Throws a
 * TypeError for a rule without two valid URLs.
 */
export function ingressOf(ingress: readonly IngressRule[] | Ingress): Ingress {
  if (typeof ingress === 'function') return ingress
  if (!Array.isArray(ingress))
    throw new TypeError(`the ingress is a list of rules or a function; a rule is ${ruleForm}`)
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

const ruleForm = "{ from: 'https://orders.example.com/', to: 'http://127.0.0.1:9000/' }"

/** Whether this is an absolute http or https URL, for `from` or `to` of a rule. */
export const isIngressUrl = (value: unknown): value is string =>
  typeof value === 'string' && /^https?:\/\/[^/]/i.test(value) && URL.canParse(value)

/** A host that stands for an address of this machine, as in `127.0.0.1.3000.deliver.example`. */
const madeHost = /^(.+)\.(\d{1,5})\.deliver\.example$/

/** The public https URL that stands for a local http URL: event subscriptions have https URLs alone. Undefined for any other URL. */
export function publicUrlOf(local: string): string | undefined {
  const url = isIngressUrl(local) ? new URL(local) : undefined
  if (url?.protocol !== 'http:' || url.hostname.startsWith('[')) return undefined
  return `https://${url.hostname}.${url.port || '80'}.deliver.example${url.pathname}${url.search}`
}

/** The way back. */
export const localUrls: Ingress = ({ hostname, pathname, search }) => {
  const [, host, port] = madeHost.exec(hostname) ?? []
  return host === undefined ? undefined : `http://${host}:${port}${pathname}${search}`
}

function urlOf(member: keyof IngressRule, value: unknown): URL {
  if (isIngressUrl(value)) return new URL(value)
  throw new TypeError(`an ingress rule needs two URLs, as in ${ruleForm}; its ${member} is not a URL`)
}

function startsWithPath(path: string, prefix: string): boolean {
  const base = prefix.replace(/\/$/, '')
  return path === base || path.startsWith(`${base}/`)
}
