// Which request headers reach the application as event metadata, and which are withheld.
import type { IncomingHttpHeaders } from 'node:http'

/** Headers of the transport, of proxies and of the handshake, and credentials: not an event's metadata. */
const withheld = new Set([
  'accept',
  'aeg-sas-key',
  'aeg-sas-token',
  'api-key',
  'authorization',
  'authentication',
  'cache-control',
  'cdn-loop',
  'client-ip',
  'connection',
  'cookie',
  'cookie2',
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
  'ocp-apim-subscription-key',
  'origin',
  'pragma',
  'range',
  'referer',
  'set-cookie',
  'te',
  'trailer',
  'transfer-encoding',
  'true-client-ip',
  'upgrade',
  'user-agent',
  'via',
  'warning',
  'www-authenticate',
  'x-access-token',
  'x-api-key',
  'x-auth-token',
  'x-client-ip',
  'x-client-port',
  'x-correlation-id',
  'x-csrf-token',
  'x-eventgrid-binding-token',
  'x-functions-key',
  'x-host',
  'x-real-ip',
  'x-request-id',
  'x-scheme',
  'x-waws-unencoded-url',
  'x-xsrf-token',
])

const withheldPrefixes = [
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
  'x-ms-client-principal',
  'x-ms-token-',
  'x-original-',
  'x-site-deployment-',
]

const withheldBeginning = new RegExp(`^(?:${withheldPrefixes.join('|')})`)

/**
 * An event's metadata from the headers of its delivery: `aeg-*`, trace context and the subscription's delivery attributes. Attributes may
 * have any name, so this leaves out what belongs to transport and proxies, and credentials, and keeps the rest.
 */
export function eventMetadata(headers: IncomingHttpHeaders): Readonly<Record<string, string>> {
  const metadata: Record<string, string> = {}
  for (const name in headers) {
    const value = headers[name]
    // An assignment loses a header named __proto__, which no attribute uses.
    if (typeof value === 'string' && !withheld.has(name) && !withheldBeginning.test(name)) metadata[name] = value
  }
  return metadata
}
