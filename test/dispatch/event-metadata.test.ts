import { describe, expect, it } from 'vitest'
import { cloudEventText, openListener } from '../listener/open-listener.ts'

const jwt = `eyJhbGciOiJub25lIn0.${'x'.repeat(20)}.sig`

/** What proxies add for those behind them, by their own pages. */
const proxies = {
  'oauth2-proxy': ['x-auth-request-access-token', 'x-auth-request-user', 'x-forwarded-access-token', 'x-id-token'],
  'Envoy and Istio': ['x-forwarded-client-cert', 'x-jwt-payload', 'x-jwt-assertion', 'x-envoy-auth-partial-body'],
  'Cloudflare Access': ['cf-access-jwt-assertion', 'cf-access-client-secret', 'cf-access-token', 'cf-authorization'],
  'AWS load balancers': ['x-amzn-oidc-data', 'x-amzn-oidc-accesstoken', 'x-amzn-oidc-identity', 'x-amz-security-token'],
  'Google IAP': ['x-goog-iap-jwt-assertion', 'x-goog-authenticated-user-email', 'x-goog-api-key'],
  'Azure App Service': [
    'x-ms-token-aad-access-token',
    'x-ms-token-aad-id-token',
    'x-ms-client-principal',
    'x-arr-clientcert',
  ],
  'API Management': ['ocp-apim-subscription-key', 'x-functions-key'],
  GitLab: ['private-token', 'job-token', 'deploy-token'],
  Vault: ['x-vault-token', 'x-vault-wrap-ttl-token'],
  Kong: ['apikey', 'x-consumer-key', 'x-userinfo', 'x-access-token', 'x-credential-identifier'],
  Traefik: ['x-forwarded-tls-client-cert', 'x-auth-user'],
  'nginx and Apache': ['x-client-cert', 'x-ssl-client-cert', 'ssl-client-cert', 'x-remote-userinfo'],
  Pomerium: ['x-pomerium-jwt-assertion'],
  'Authelia and Keycloak': ['x-authelia-session', 'keycloak-token', 'x-auth-token', 'x-authorization'],
  others: [
    ...['authorization', 'proxy-authorization', 'cookie', 'x-api-key', 'x-hub-signature-256', 'x-csrf-token'],
    ...['x-session-id', 'phpsessionid', 'x-password', 'user-pwd', 'x-saml-response', 'x-sas', 'x-otp', 'accesskey'],
    ...['dpop-jwk', 'x-service-credential', 'x-bearer', 'client-key', 'x-oauth-scopes', 'x-idp-claims', 'my-app-key'],
  ],
}

/** Names that are nobody's, whose values say what they are. */
const values = {
  'x-a': jwt,
  'x-b': `Bearer ${'b'.repeat(20)}`,
  'x-c': `Basic ${Buffer.from('user:marked').toString('base64')}`,
  'x-d': 'SharedAccessSignature r=a&e=b&s=c',
  'x-e': `https://a.example/blob?sv=1&sig=${'e'.repeat(20)}`,
  'x-f': Buffer.from(JSON.stringify({ user: 'marked' })).toString('base64'),
  'x-g': `ghp_${'g'.repeat(36)}`,
  'x-h': `hvs.${'h'.repeat(24)}`,
  'x-i': 'AWS4-HMAC-SHA256 Credential=AKIA/2026, Signature=00',
}

const own = {
  traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  tracestate: 'a=1',
  'aeg-data-version': '2',
}
const attributes = {
  tenant: 'north',
  'x-author': 'Ann',
  authority: 'EU',
  keyboard: 'de',
  plan: 'basic',
  zone: 'Asia/Tokyo',
  locale: 'sk-SK',
  passenger: '7',
  link: 'https://a.example/?page=2',
}
const ofFetch = [
  ...['accept', 'accept-encoding', 'accept-language', 'connection', 'content-length', 'content-type', 'host'],
  ...['sec-fetch-mode', 'user-agent'],
]
const always = ['aeg-delivery-count', 'aeg-event-type', 'aeg-subscription-name']
const namesOf = (metadata: object | undefined) => Object.keys(metadata ?? {}).toSorted()

describe.each([
  { name: 'are known', declared: Object.keys(attributes), passed: Object.keys(attributes) },
  { name: 'are not known', declared: undefined, passed: [...Object.keys(attributes), ...ofFetch] },
  { name: 'are known to be none', declared: [], passed: [] },
])('where the delivery attributes $name, metadata', ({ declared, passed }) => {
  it.each([
    ...Object.entries(proxies).map(([name, headers]) => ({
      name,
      headers: Object.fromEntries(headers.map((one) => [one, 'marked'])),
    })),
    { name: 'somebody, as the values show', headers: values },
  ])('hold attributes and trace context, and nothing of $name', async ({ headers }) => {
    const { deliver, events } = await openListener({ declared: { attributes: declared } })
    expect((await deliver(cloudEventText('1'), { ...headers, ...own, ...attributes })).status).toBe(200)
    expect(namesOf(events[0]?.metadata)).toEqual([...always, ...Object.keys(own), ...passed].toSorted())
    expect(events[0]?.attributes).toEqual(declared)
  })
})

it('hold every attribute that is declared, whatever it is called, but no credential of ours or of a proxy', async () => {
  const declared = ['partition-key', 'x-request-id', 'x-routing-token', 'cf-team', 'x-ssl-client-cert', 'session']
  const credentials = [
    'authorization',
    'cookie',
    'x-forwarded-id-token',
    'x-amzn-oidc-data',
    'x-eventgrid-binding-token',
  ]
  const names = [...declared, ...credentials.map((name) => name.toLowerCase())]
  const { deliver, events } = await openListener({ declared: { attributes: names } })
  // Ours, which the listener takes, stands beside them.
  const headers = names.filter((name) => !name.startsWith('x-eventgrid-')).map((name) => [name, 'marked'])
  expect((await deliver(cloudEventText('1'), Object.fromEntries(headers))).status).toBe(200)
  expect(namesOf(events[0]?.metadata)).toEqual([...always, ...declared].toSorted())
})
