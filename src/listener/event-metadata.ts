// Which request headers reach the application as event metadata, and which are withheld.
import type { IncomingHttpHeaders } from 'node:http'

/** Credentials: never an event's metadata, though the event subscription declares an attribute of that name. */
const credentials = new Set([
  'aeg-sas-key',
  'aeg-sas-token',
  'api-key',
  'authorization',
  'authentication',
  'cookie',
  'cookie2',
  'ocp-apim-subscription-key',
  'proxy-authenticate',
  'proxy-authorization',
  'set-cookie',
  'x-access-token',
  'x-api-key',
  'x-auth-token',
  'x-csrf-token',
  'x-eventgrid-binding-token',
  'x-functions-key',
  'x-xsrf-token',
])

const credentialPrefixes = ['x-forwarded-access-', 'x-ms-client-principal', 'x-ms-token-']

/** Headers of the transport, of proxies and of the handshake: metadata only where the event subscription declares them. */
const transport = new Set([
  'accept',
  'cache-control',
  'cdn-loop',
  'client-ip',
  'connection',
  'date',
  'disguised-host',
  'dnt',
  'expect',
  'forwarded',
  'from',
  'host',
  'http2-settings',
  'keep-alive',
  'max-forwards',
  'origin',
  'pragma',
  'range',
  'referer',
  'te',
  'trailer',
  'transfer-encoding',
  'true-client-ip',
  'upgrade',
  'user-agent',
  'via',
  'warning',
  'www-authenticate',
  'x-client-ip',
  'x-client-port',
  'x-correlation-id',
  'x-host',
  'x-real-ip',
  'x-request-id',
  'x-scheme',
  'x-waws-unencoded-url',
])

const transportPrefixes = [
  'accept-',
  'access-control-',
  'cf-',
  'content-',
  'fly-',
  'if-',
  'proxy-',
  'sec-',
  'webhook-',
  'x-amz-',
  'x-amzn-',
  'x-appgw-',
  'x-appservice-',
  'x-arr-',
  'x-azure-',
  'x-b3-',
  'x-cloud-trace-',
  'x-envoy-',
  'x-fd-',
  'x-forwarded-',
  'x-goog-',
  'x-original-',
  'x-site-deployment-',
]

const beginsAs = (prefixes: readonly string[]) => new RegExp(`^(?:${prefixes.join('|')})`)
const credentialBeginning = beginsAs(credentialPrefixes)
const transportBeginning = beginsAs(transportPrefixes)

const isCredential = (name: string) => credentials.has(name) || credentialBeginning.test(name)
const isTransport = (name: string) => transport.has(name) || transportBeginning.test(name)

/**
 * An event's metadata from the headers of its delivery: `aeg-*`, trace context and the subscription's delivery attributes. Attributes may
 * have any name, and which are declared is not always known. So this keeps what is declared, leaves out of the others what belongs to
 * transport and proxies, and never has a credential.
 *
 * @param declared lower-case names of the delivery attributes that the event subscription declares
 */
export function eventMetadata(
  headers: IncomingHttpHeaders,
  declared: ReadonlySet<string>,
): Readonly<Record<string, string>> {
  const metadata: Record<string, string> = {}
  for (const name in headers) {
    const value = headers[name]
    if (typeof value !== 'string' || isCredential(name) || (isTransport(name) && !declared.has(name))) continue
    // An assignment loses a header named __proto__, which no attribute uses.
    metadata[name] = value
  }
  return metadata
}
