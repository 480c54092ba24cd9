/** Which proxy of the environment a request to Azure goes through, which requests go past it, and a proxy that cannot be used. */
import { metadataInvalid } from '../metadata/fields/faults.ts'
import { isLoopback } from '../support/net/hosts.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** The names of the variables, in the order in which the Azure SDKs look. */
const variables = ['HTTPS_PROXY', 'ALL_PROXY', 'HTTP_PROXY'].flatMap((name) => [name, name.toLowerCase()])

/**
 * Throws where a request to the URL would go through a proxy that the Azure SDKs cannot use: its value is no http or https URL.
 *
 * @throws BindingError METADATA_INVALID
 */
export function refuseUnusableProxy(url: string, environment: Environment = process.env): void {
  const field = variables.find((name) => environment[name])
  if (!field) return
  const proxy = URL.parse(environment[field] ?? '')
  // The SDKs cannot even make a client where the value is no URL.
  if (proxy && (/^https?:$/.test(proxy.protocol) || isBypassed(url, environment))) return
  const fix = 'write it with its scheme, like http://proxy.example.com:8080, or name the host in NO_PROXY'
  throw metadataInvalid('the environment', [{ field, rule: 'must be an http or https URL', fix }])
}

/**
 * The proxy that a request to the URL goes through. `undefined` where the request goes directly, and where the proxy cannot be used: that
 * is reported by {@link refuseUnusableProxy}.
 */
export function proxyOf(url: string, environment: Environment = process.env): URL | undefined {
  const field = variables.find((name) => environment[name])
  const proxy = URL.parse(environment[field ?? ''] ?? '')
  return proxy && /^https?:$/.test(proxy.protocol) && !isBypassed(url, environment) ? proxy : undefined
}

/** As {@link proxyOf}, for the URL of a web hook. A web hook on this machine is asked directly, also by https. */
export const proxyOfEndpoint = ({ hostname, href }: URL) => (isLoopback(hostname) ? undefined : proxyOf(href))

/**
 * Whether a request to the URL goes directly, without the proxy. Reads more forms of NO_PROXY than the SDKs, which know only `.x` for a
 * domain and `x` for one host. The identity endpoint of a machine is always asked directly, because no proxy can reach its address.
 */
export function isBypassed(url: string, environment: Environment = process.env): boolean {
  const { hostname, port, protocol } = new URL(url)
  if (hostname.startsWith('169.254.') || (protocol === 'http:' && isLoopback(hostname))) return true
  const list = environment.NO_PROXY || environment.no_proxy || ''
  const usualPort = protocol === 'http:' ? '80' : '443'
  return list.split(/[\s,]+/).some((entry) => {
    const [, name = '', wantedPort] = /^(.*?)(?::(\d+))?$/.exec(entry.trim().toLowerCase()) ?? []
    if (name === '' || (wantedPort !== undefined && wantedPort !== (port || usualPort))) return false
    const domain = name.replace(/^\*?\./, '')
    return name === '*' || hostname === domain || hostname.endsWith(`.${domain}`)
  })
}
