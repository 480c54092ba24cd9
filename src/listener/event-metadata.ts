/** Which request headers reach the application as event metadata, and which are withheld. */
import type { IncomingHttpHeaders } from 'node:http'

/** Credentials of ours and of proxies: never an event's metadata, though the event subscription declares an attribute of that name. */
const credentials = new Set([
  // HTTP
  ...['authorization', 'authentication', 'proxy-authenticate', 'proxy-authorization'],
  ...['cookie', 'cookie2', 'set-cookie'],
  // Event Grid, this binding, and Azure
  ...['aeg-sas-key', 'aeg-sas-token', 'x-eventgrid-binding-token', 'ocp-apim-subscription-key', 'x-functions-key'],
  // other clouds, Cloudflare, GitLab and Vault
  ...['x-amz-security-token', 'x-goog-api-key', 'x-goog-iap-jwt-assertion', 'cf-access-client-secret'],
  ...['cf-access-jwt-assertion', 'cf-access-token', 'deploy-token', 'job-token', 'private-token', 'x-vault-token'],
  // common to many
  ...['api-key', 'x-api-key', 'x-access-token', 'x-auth-request-access-token', 'x-auth-token', 'x-authorization'],
  ...['x-client-cert', 'x-csrf-token', 'x-xsrf-token', 'x-id-token', 'x-jwt-assertion', 'x-jwt-payload'],
  ...['x-session-token', 'x-userinfo'],
])

const credentialPrefixes = [
  'x-amzn-oidc-',
  'x-forwarded-access-',
  'x-forwarded-client-cert',
  'x-forwarded-id-token',
  'x-forwarded-tls-client-cert',
  'x-ms-client-principal',
  'x-ms-token-',
  'x-pomerium-',
]

/** Parts of a name that say that its value may be a credential; `author` does not count. */
const credentialParts =
  /token|secret|cookie|session|jwt|jws|jwk|credential|passw|passphrase|signature|assertion|bearer|csrf|xsrf|saml|oidc|hmac|principal|userinfo|auth(?!or(?!i[sz]))/

/** The same, where it is a word of its own or the end of a longer one; `monkey` does not count. */
const credentialWords =
  /(?:^|[-_.])(?:(?:api|access|app|auth|account|client|function|host|licen[cs]e|master|private|shared|subscription|user)?keys?|certs?|certificate|claims|creds?|login|nonce|otp|pass|pat|pin|psk|pwd|sas|sid|sig|sso|ticket|(?:client|peer|tls)cert)(?:$|[-_.\d])/

/** Values that are one whatever their name: with a scheme of HTTP, a JWT or other JSON in base64, a signed URL, a certificate or key. */
const credentialValues = [
  /^(?:apikey|basic|bearer|negotiate|ntlm|sharedaccesskey|token)\s+[\w+/=.~-]{8,}$/i,
  /^(?:aws4-hmac-sha256|digest|hawk|sharedaccesssignature)\s.*=/i,
  /(?<![\w-])eyJ[\w-]{8}|[?&]sig=|-----BEGIN/,
  // Keys by the beginning that their makers gave them.
  /^(?:A[KS]IA[\dA-Z]{12}|AIza[\w-]{16}|SG\.[\w-]{16}|gh[oprsu]_\w{16}|github_pat_|glpat-|hv[bs]\.[\w-]{16}|npm_\w{16}|sk[-_][\w-]{16}|xox[a-z]-|ya29\.)/,
]

/** Headers of the transport, of proxies and of the handshake: metadata only where the event subscription declares them. */
const transport = new Set([
  ...['accept', 'cache-control', 'connection', 'date', 'dnt', 'expect', 'forwarded', 'from', 'host', 'http2-settings'],
  ...['keep-alive', 'max-forwards', 'origin', 'pragma', 'range', 'referer', 'te', 'trailer', 'transfer-encoding'],
  ...['upgrade', 'user-agent', 'via', 'warning', 'www-authenticate', 'cdn-loop', 'client-ip', 'disguised-host'],
  ...['true-client-ip', 'x-client-ip', 'x-client-port', 'x-correlation-id', 'x-host', 'x-real-ip', 'x-request-id'],
  ...['x-scheme', 'x-waws-unencoded-url'],
])

const transportPrefixes = [
  ...['accept-', 'access-control-', 'content-', 'if-', 'proxy-', 'sec-', 'webhook-', 'x-forwarded-', 'x-original-'],
  ...['x-appgw-', 'x-appservice-', 'x-arr-', 'x-azure-', 'x-fd-', 'x-site-deployment-', 'x-amz-', 'x-amzn-', 'x-goog-'],
  ...['x-cloud-trace-', 'x-b3-', 'x-envoy-', 'cf-', 'fly-'],
]

const beginsAs = (prefixes: readonly string[]) => new RegExp(`^(?:${prefixes.join('|')})`)
const credentialBeginning = beginsAs(credentialPrefixes)
const transportBeginning = beginsAs(transportPrefixes)

const isCredential = (name: string) => credentials.has(name) || credentialBeginning.test(name)
const isTransport = (name: string) => transport.has(name) || transportBeginning.test(name)

/** What Event Grid itself sends, and the trace context. */
const isOwn = (name: string) => name.startsWith('aeg-') || name === 'traceparent' || name === 'tracestate'

/** Whether a header may be a delivery attribute where nobody knows which are declared. */
function mayBeAttribute(name: string, value: string): boolean {
  return (
    !isTransport(name) &&
    !credentialParts.test(name) &&
    !credentialWords.test(name) &&
    !credentialValues.some((pattern) => pattern.test(value))
  )
}

/**
 * An event's metadata from the headers of its delivery: `aeg-*`, trace context and the subscription's delivery attributes, never a
 * credential. Where the declared attributes are known, they are all that is added. Where they are not, it is whatever belongs neither to
 * transport and proxies nor may be a credential.
 *
 * @param declared lower-case names of the delivery attributes that the event subscription declares; `undefined`: they are not known
 */
export function eventMetadata(
  headers: IncomingHttpHeaders,
  declared: ReadonlySet<string> | undefined,
): Readonly<Record<string, string>> {
  const metadata: Record<string, string> = {}
  for (const name in headers) {
    const value = headers[name]
    if (typeof value !== 'string' || isCredential(name)) continue
    const isWanted = isOwn(name) || (declared ? declared.has(name) : mayBeAttribute(name, value))
    // An assignment loses a header named __proto__, which no attribute uses.
    if (isWanted) metadata[name] = value
  }
  return metadata
}
