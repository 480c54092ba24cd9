/** Who gets a token, and for which audience. */
import type { Client } from '../model/resources/resource.ts'
import type { Authorization } from '../server/service.ts'
import type { Directory } from './directory.ts'
import { entraErrors } from './errors.ts'
import type { TokenIssuer } from './token-issuer.ts'

export interface TokenRequest {
  readonly tenant: string
  /** The form's fields. */
  readonly form: Readonly<Record<string, string>>
  /** May carry client id and secret. */
  readonly authorization?: Authorization | undefined
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

/** The blobs of one storage account; Azurite takes such a token. */
const blobService = /^https:\/\/[a-z\d]{3,24}\.blob\.core\.windows\.net$/

/**
 * Decides a client-credentials request: the client and the audience of the token. Throws an EntraError. `own` is the
 * emulator's address, which is an audience too.
 */
export async function decideTokenRequest(
  request: TokenRequest,
  directory: Directory,
  tokens: Pick<TokenIssuer, 'verifyAssertion'>,
  own: string,
): Promise<{ readonly client: Client; readonly audience: string; readonly provedBy: 'secret' | 'assertion' }> {
  const { tenant, form } = request
  if (!/^[\w.-]+$/.test(tenant)) throw entraErrors.invalidTenant(tenant)
  if (!directory.hasTenant(tenant)) throw entraErrors.unknownTenant(tenant)
  const grant = form.grant_type
  if (!grant) throw entraErrors.missingParameter('grant_type')
  if (grant !== 'client_credentials') throw entraErrors.unsupportedGrant(grant)
  const { clientId, clientSecret } = credentialsOf(request)
  if (!clientId) throw entraErrors.missingParameter('client_id')
  const wanted = request.names === 'scope' ? resourceScope(form.scope) : form.resource
  if (!wanted) throw entraErrors.missingParameter(request.names)
  const client = directory.client(tenant, clientId)
  if (!client) throw entraErrors.unknownClient(clientId, tenant)
  const assertion = form.client_assertion
  if (assertion) await checkAssertion(assertion, form.client_assertion_type, client, tokens)
  else if (!clientSecret) throw entraErrors.missingSecret()
  else if (![client.clientSecret, ...client.otherSecrets].includes(clientSecret))
    throw entraErrors.wrongSecret(client.clientId)
  if (request.names === 'scope' && !/^\S+\/\.default$/.test(wanted)) throw entraErrors.wrongScope(wanted)
  const audience = wanted.replace(/\/\.default$/, '')
  // Client ids, plain or in an application id URI, are audiences too: a webhook's own application.
  const application = audience.replace(/^api:\/\//, '')
  const resource = audience.replace(/(?<!\/)\/+$/, '').toLowerCase()
  const known = [...knownResources, own].includes(resource) || blobService.test(resource)
  if (!known && !directory.clients.some(({ clientId: id }) => id === application)) {
    throw entraErrors.unknownResource(audience, tenant)
  }
  return { client, audience, provedBy: assertion ? 'assertion' : 'secret' }
}

/** RFC 7523, section 2.2. */
const assertionType = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'

/** Takes the assertions that the emulator itself has signed for the client, as Entra takes those of a cluster that the client trusts. */
async function checkAssertion(
  assertion: string,
  type: string | undefined,
  { clientId }: Client,
  tokens: Pick<TokenIssuer, 'verifyAssertion'>,
): Promise<void> {
  if (!type) throw entraErrors.missingParameter('client_assertion_type')
  if (type !== assertionType) throw entraErrors.unsupportedAssertion(type)
  const verdict = await tokens.verifyAssertion(assertion)
  if ('problem' in verdict)
    throw verdict.problem === 'expired' ? entraErrors.expiredAssertion() : entraErrors.invalidAssertion()
  if (verdict.subject.toLowerCase() !== clientId.toLowerCase()) throw entraErrors.foreignAssertion(verdict.subject)
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
  if (authorization?.scheme !== 'basic') return { clientId: form.client_id, clientSecret: form.client_secret }
  const [id, secret] = Buffer.from(authorization.credential, 'base64').toString().split(/:(.*)/s)
  return { clientId: decode(id), clientSecret: decode(secret) }
}

// RFC 6749, section 2.3.1: both halves are form-encoded before they are joined.
const decode = (text = '') => new URLSearchParams(`v=${text}`).get('v')
