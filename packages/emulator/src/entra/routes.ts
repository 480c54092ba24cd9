/** Which requests Entra takes, and what its answers say: tokens, discovery documents and keys. */
import { randomUUID } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { cut } from '../../../../src/support/text/text.ts'
import type { Clock } from '../model/time/clock.ts'
import { shownBody } from '../records/shown-request.ts'
import type { RecordingOptions } from '../server/recording.ts'
import { queryOf, readAuthorization, serveAs } from '../server/service.ts'
import type { Directory } from './directory.ts'
import { EntraError, entraErrorBody, entraErrors, injectedError } from './errors.ts'
import { issuerOf, type TokenIssuer } from './token-issuer.ts'
import { decideTokenRequest } from './token-request.ts'

/** Entra too refuses long forms. */
const maxFormBytes = 65_536

interface TenantParams {
  Params: { tenant: string }
}

interface TokenRoute extends TenantParams {
  /** The fields of the form; undefined without a body. */
  Body: Readonly<Record<string, string>> | undefined
}

export interface EntraRouteOptions extends RecordingOptions {
  readonly clock: Clock
  readonly directory: Directory
  readonly tokens: TokenIssuer
  readonly tokenLifetimeSeconds: number
  /** `https://127.0.0.1:{port}`, without a trailing slash. Known once the server listens, hence a function. */
  readonly baseUrl: () => string
}

/** Adds Entra's token, discovery and key endpoints. `app` is a Fastify scope of their own. */
export function registerEntraRoutes(app: FastifyInstance, options: EntraRouteOptions): void {
  const { clock, directory, tokens } = options
  serveAs(app, options, {
    ...{ route: 'entra', bodyLimit: maxFormBytes, own: EntraError },
    read: (body) => Object.fromEntries(new URLSearchParams(String(body))),
    ...{ tooLarge: entraErrors.unreadable, unreadable: entraErrors.unreadable, internal: entraErrors.internal },
    injected: ({ status, code, message }) => injectedError(status, code, message),
    bodyOf(refusal, request) {
      const ids = { traceId: request.id, correlationId: clientRequestId(request) ?? randomUUID() }
      return entraErrorBody(refusal, ids, new Date(clock.now()))
    },
  })

  const answerToken =
    (names: 'resource' | 'scope') => async (request: FastifyRequest<TokenRoute>, reply: FastifyReply) => {
      const { body: form = {} } = request
      request.outcome.body = shownForm(form)
      const { tenant } = request.params
      const asked = { tenant, form, authorization: readAuthorization(request.headers), names }
      reply.header('cache-control', 'no-store, no-cache').header('pragma', 'no-cache')
      const { client, audience, provedBy } = await decideTokenRequest(asked, directory, tokens, options.baseUrl())
      request.outcome.clientId = client.clientId
      const { tokenLifetimeSeconds: life } = options
      const token = await tokens.issueClientToken({ ...client, audience, provedBy, lifetimeSeconds: life })
      const expiry = Math.floor(clock.now() / 1000) + life
      return names === 'scope'
        ? { token_type: 'Bearer', expires_in: life, ext_expires_in: life, access_token: token }
        : {
            token_type: 'Bearer',
            expires_in: String(life),
            ext_expires_in: String(life),
            expires_on: String(expiry),
            not_before: String(expiry - life),
            resource: audience,
            access_token: token,
          }
    }
  app.post<TokenRoute>('/:tenant/oauth2/v2.0/token', answerToken('scope'))
  app.post<TokenRoute>('/:tenant/oauth2/token', answerToken('resource'))

  const discover = (version: '1.0' | '2.0') => async (request: FastifyRequest<TenantParams>, reply: FastifyReply) => {
    const { tenant } = request.params
    if (!commonTenants.has(tenant) && !directory.hasTenant(tenant)) {
      throw entraErrors.unknownDiscoveryTenant(tenant)
    }
    return reply.send(discoveryDocument(request.host, tenant, version))
  }
  app.get<TenantParams>('/:tenant/v2.0/.well-known/openid-configuration', discover('2.0'))
  app.get<TenantParams>('/:tenant/.well-known/openid-configuration', discover('1.0'))

  app.get<TenantParams>('/:tenant/discovery/v2.0/keys', (request) =>
    tokens.keySet(issuerOf(issuerTenant(request.params.tenant), '2.0')),
  )
  app.get<TenantParams>('/:tenant/discovery/keys', () => tokens.keySet())
  app.get('/common/discovery/instance', (request, reply) => {
    // The endpoint that the client means to use names the tenant, and so does its document.
    const tenant =
      /^https:\/\/[^/]+\/([\w.-]+)\//i.exec(queryOf(request).get('authorization_endpoint') ?? '')?.[1] ?? 'common'
    return reply.send({
      tenant_discovery_endpoint: `https://${request.host}/${tenant}/v2.0/.well-known/openid-configuration`,
      'api-version': '1.1',
      metadata: [
        {
          preferred_network: 'login.microsoftonline.com',
          preferred_cache: 'login.windows.net',
          aliases: ['login.microsoftonline.com', 'login.windows.net', 'login.microsoft.com', 'sts.windows.net'],
        },
        { preferred_network: request.host, preferred_cache: request.host, aliases: [request.host] },
      ],
    })
  })
}

/** The longest value of a field in a record, in characters: whoever sends a form has proved nothing yet. */
const recordedValue = 200

/** A form for the record. What is no field by its name, such as a JSON text, is left out. */
function shownForm(form: Readonly<Record<string, string>>): unknown {
  const fields = Object.entries(form).filter(([name]) => /^[a-z_]{1,40}$/i.test(name))
  return shownBody(Object.fromEntries(fields.slice(0, 20).map(([name, value]) => [name, cut(value, recordedValue)])))
}

const commonTenants: ReadonlySet<string> = new Set(['common', 'organizations', 'consumers'])

/** What names the tenant in an issuer: the multi-tenant documents have a placeholder there. */
const issuerTenant = (tenant: string) => (commonTenants.has(tenant) ? '{tenantid}' : tenant)

function discoveryDocument(host: string, tenant: string, version: '1.0' | '2.0') {
  const base = `https://${host}/${tenant}`
  const oauth2 = version === '1.0' ? `${base}/oauth2` : `${base}/oauth2/v2.0`
  return {
    token_endpoint: `${oauth2}/token`,
    authorization_endpoint: `${oauth2}/authorize`,
    jwks_uri: version === '1.0' ? `https://${host}/common/discovery/keys` : `${base}/discovery/v2.0/keys`,
    issuer: issuerOf(issuerTenant(tenant), version),
    ...(version === '2.0' && { kerberos_endpoint: `${base}/kerberos` }),
    token_endpoint_auth_methods_supported: ['client_secret_post', 'private_key_jwt', 'client_secret_basic'],
    response_modes_supported: ['query', 'fragment', 'form_post'],
    subject_types_supported: ['pairwise'],
    id_token_signing_alg_values_supported: ['RS256'],
    response_types_supported: ['code', 'id_token', 'code id_token', 'id_token token'],
    scopes_supported: ['openid', 'profile', 'email', 'offline_access'],
    request_uri_parameter_supported: false,
    end_session_endpoint: `${base}/oauth2/v2.0/logout`,
    tenant_region_scope: 'EU',
    cloud_instance_name: 'microsoftonline.com',
    cloud_graph_host_name: 'graph.windows.net',
    msgraph_host: 'graph.microsoft.com',
    rbac_url: 'https://pas.windows.net',
  }
}

function clientRequestId({ headers }: FastifyRequest): string | undefined {
  const id = headers['client-request-id']
  return typeof id === 'string' && id.length <= 100 ? id : undefined
}
