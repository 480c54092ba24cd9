// Who gets a token: client secret, Basic header, `/.default` scope, accepted audiences.
import type { Client } from '../model/resources/client.ts'
import type { Directory } from './directory.ts'
import { type EntraFailure, entraFailures } from './errors.ts'

export interface TokenRequest {
  readonly tenant: string
  /** The form's fields. */
  readonly form: Readonly<Record<string, string>>
  /** The Authorization header, which may carry client id and secret. */
  readonly authorization?: string | undefined
  /** `resource` (v1 endpoint) or `scope` (v2 endpoint) names what the token is for. */
  readonly names: 'resource' | 'scope'
}

/** The audience of tokens for publishing and receiving. */
export const dataPlaneAudience = 'https://eventgrid.azure.net'

/** The audiences that services of the emulator accept. */
export const knownResources: readonly string[] = [
  'https://management.azure.com',
  'https://management.core.windows.net',
  'https://management.usgovcloudapi.net',
  'https://management.chinacloudapi.cn',
  dataPlaneAudience,
  'https://eventgrid.azure.us',
  'https://eventgrid.azure.cn',
  'https://storage.azure.com',
  'https://graph.microsoft.com',
]

/**
 * Decides a client-credentials request: the client and the audience of the token, or a refusal. `own` is the
 * emulator's address, which is an audience too.
 */
export function decideTokenRequest(
  request: TokenRequest,
  directory: Directory,
  own: string,
): { readonly client: Client; readonly audience: string } | { readonly failure: EntraFailure } {
  const { tenant, form } = request
  if (!/^[\w.-]+$/.test(tenant)) return { failure: entraFailures.invalidTenant(tenant) }
  if (!directory.hasTenant(tenant)) return { failure: entraFailures.unknownTenant(tenant) }
  const grant = form.grant_type
  if (!grant) return { failure: entraFailures.missingParameter('grant_type') }
  if (grant !== 'client_credentials') return { failure: entraFailures.unsupportedGrant(grant) }
  const { clientId, clientSecret } = credentialsOf(request)
  if (!clientId) return { failure: entraFailures.missingParameter('client_id') }
  const wanted = request.names === 'scope' ? resourceScope(form.scope) : form.resource
  if (!wanted) return { failure: entraFailures.missingParameter(request.names) }
  const client = directory.client(tenant, clientId)
  if (!client) return { failure: entraFailures.unknownClient(clientId, tenant) }
  if (!clientSecret) return { failure: entraFailures.missingSecret() }
  if (![client.clientSecret, ...client.otherSecrets].includes(clientSecret))
    return { failure: entraFailures.wrongSecret(client.clientId) }
  if (request.names === 'scope' && !/^\S+\/\.default$/.test(wanted))
    return { failure: entraFailures.wrongScope(wanted) }
  const audience = wanted.replace(/\/\.default$/, '')
  // Client ids, plain or in an application id URI, are audiences too: a webhook's own application.
  const application = audience.replace(/^api:\/\//, '')
  const known = [...knownResources, own].some((one) => one === audience.replace(/(?<!\/)\/+$/, '').toLowerCase())
  if (!known && !directory.clients.some(({ clientId: id }) => id === application)) {
    return { failure: entraFailures.unknownResource(audience, tenant) }
  }
  return { client, audience }
}

/**
 * The scope of the resource. MSAL for Go adds the scopes of OpenID Connect, which Entra ignores.
 */
function resourceScope(scope: string | undefined): string | undefined {
  const scopes = scope?.split(' ').filter((one) => one !== '') ?? []
  return scopes.filter((one) => !openIdScopes.has(one)).join(' ') || scope
}

const openIdScopes: ReadonlySet<string> = new Set(['openid', 'profile', 'email', 'offline_access'])

function credentialsOf({ form, authorization }: TokenRequest) {
  const basic = /^Basic\s+([\w+/=-]+)$/i.exec(authorization ?? '')?.[1]
  if (!basic) return { clientId: form.client_id, clientSecret: form.client_secret }
  const [id, secret] = Buffer.from(basic, 'base64').toString().split(/:(.*)/s)
  return { clientId: decode(id), clientSecret: decode(secret) }
}

// RFC 6749, section 2.3.1: both halves are form-encoded before they are joined.
const decode = (text = '') => new URLSearchParams(`v=${text}`).get('v')
