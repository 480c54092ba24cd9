/** Which requests Resource Manager takes, who answers each, and which headers every answer has. */
import { randomUUID } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { TokenIssuer, VerifiedToken } from '../entra/token-issuer.ts'
import { knownResources } from '../entra/token-request.ts'
import { shownBody } from '../records/shown-request.ts'
import type { RecordingOptions } from '../server/recording.ts'
import { queryOf, readAuthorization, recordedBody, serveAs } from '../server/service.ts'
import { answerPermissions, answerRoleAssignments, answerRoleDefinitions } from './call/authorization.ts'
import type { ArmAnswer, ArmCall } from './call/call.ts'
import { ArmError, armErrors, usualArmCode } from './call/errors.ts'
import { answerMetadata } from './call/metadata-endpoints.ts'
import { answerOperation } from './call/operations.ts'
import { type ArmTarget, parseArmPath, parseArmScope, type ResourceType } from './call/path.ts'
import type { ArmRequestLimits } from './call/request-limits.ts'
import type { ArmContext } from './context.ts'
import { answerContainer, answerProvider, answerProviders } from './resources/containers.ts'
import { answerNamespaces, answerNamespaceTopics, answerQueueSubscriptions } from './resources/namespaces.ts'
import { type AnswerResource, answerUnsupported } from './resources/resources.ts'
import { answerSystemTopics } from './resources/system-topics.ts'
import { answerEventTypes, answerTopicTypes } from './resources/topic-types.ts'
import { answerDomains, answerDomainTopics, answerTopics } from './resources/topics-and-domains.ts'
import { answerEventSubscription, listEventSubscriptions } from './subscriptions/event-subscriptions.ts'

const maxBodyBytes = 4 * 1024 * 1024
const maxPath = 2048

export interface ArmRouteOptions extends RecordingOptions, Omit<ArmContext, 'endpointOf' | 'hostnameOf'> {
  readonly tokens: Pick<TokenIssuer, 'verifyToken'>
  /** `https://127.0.0.1:{port}`, without a trailing slash. Known once the server listens, hence a function. */
  readonly baseUrl: () => string
  /** `Retry-After` of the answers 201 and 202 to a long-running operation, in seconds. */
  readonly operationRetryAfter: number | undefined
  /**
   * How long the answer about a running operation may be delayed, in real milliseconds, so that a client that polls
   * every 2 s learns of the end at once.
   */
  readonly statusHoldMs: number
  readonly limits: ArmRequestLimits
}

/** Adds Azure Resource Manager: every path that no other part has. `app` is a Fastify scope of its own. */
export function registerArmRoutes(app: FastifyInstance, options: ArmRouteOptions): void {
  const { clock, directory, limits } = options
  const dispatch = createDispatch(options)

  serveAs(app, options, {
    ...{ route: 'arm', bodyLimit: maxBodyBytes, read: String, own: ArmError },
    ...{ tooLarge: armErrors.tooLarge, internal: armErrors.internal },
    unreadable: () => armErrors.invalidContent('The request could not be read'),
    injected: ({ status, code, message }) =>
      new ArmError(status, code ?? usualArmCode(status), message ?? 'The request failed.'),
    bodyOf: ({ body }) => body,
    headersOf({ status, code, message, headers }) {
      const isGateway = status === 401 || status === 404 || code === 'LinkedAuthorizationFailed'
      const cause = { 'x-ms-failure-cause': isGateway ? 'gateway' : 'service' }
      if (status !== 401) return { ...cause, ...headers }
      const tenant = directory.clients[0]?.tenantId ?? 'common'
      const challenge = `Bearer authorization_uri="https://login.windows.net/${tenant}", error="invalid_token"`
      return { 'www-authenticate': `${challenge}, error_description="${message}"`, ...cause, ...headers }
    },
  })
  app.addHook('onRequest', async (request, reply) => {
    const correlation = headerOf(request, 'x-ms-correlation-request-id') ?? randomUUID()
    const stamp = new Date(clock.now()).toISOString().replace(/[-:]|\.\d+/g, '')
    reply.headers({
      'cache-control': 'no-cache',
      pragma: 'no-cache',
      expires: '-1',
      'x-ms-request-id': request.id,
      'x-ms-correlation-request-id': correlation,
      'x-ms-routing-request-id': `WESTEUROPE:${stamp}:${correlation}`,
      'strict-transport-security': 'max-age=31536000; includeSubDomains',
      'x-content-type-options': 'nosniff',
    })
  })

  // Clients read it before they sign in.
  app.get('/metadata/endpoints', async (request) => answerMetadata(request.host, queryOf(request)))

  app.all('/*', async (request: FastifyRequest, reply: FastifyReply) => {
    const [sent = ''] = request.url.split('?')
    // Azure takes them for one (recorded, PowerShell 2024); SDKs send two for a scope that begins with a slash.
    const path = sent.replace(/^\/+/, '/')
    const query = queryOf(request)
    const apiVersion = query.get('api-version')
    if (apiVersion === null || apiVersion === '') throw armErrors.missingApiVersion()
    const caller = await authenticate(options, request)
    request.outcome.clientId = caller.clientId
    if (!/^\d{4}-\d{2}-\d{2}(-\w{1,30})?$/.test(apiVersion)) throw armErrors.invalidApiVersion(apiVersion)
    const target = path.length > maxPath || path.includes('//') ? undefined : parseArmPath(path)
    if (!target) throw armErrors.pathNotFound(request.method, path)
    const { host } = request
    const call: ArmCall = {
      method: request.method,
      apiVersion,
      query,
      url: request.url.replace(sent, path),
      content: typeof request.body === 'string' ? request.body : undefined,
      caller,
      baseUrl: `https://${host.replace(/:443$/, '')}`,
    }
    request.outcome.body = shownBody(recordedBody(call.content ?? ''))
    const { subscriptionId = '' } = 'scope' in target ? (parseArmScope(target.scope) ?? {}) : {}
    const { id: azureId = '' } = directory.azureSubscription(subscriptionId) ?? {}
    reply.headers(limits.count(caller.objectId, azureId, { method: request.method, path }))
    const answer = await dispatch(call, target)
    reply.code(answer.status).headers(answer.headers ?? {})
    if (options.operationRetryAfter !== undefined && isUnderWay(answer)) {
      reply.header('retry-after', String(options.operationRetryAfter))
    }
    return answer.body === undefined ? reply.send() : reply.send(answer.body)
  })
}

/** Whether an answer says that a long-running operation has begun, or still runs. */
const isUnderWay = ({ status, headers = {} }: ArmAnswer): boolean =>
  status === 202 || (status === 201 && 'azure-asyncoperation' in headers)

const resources: Readonly<Record<ResourceType, AnswerResource>> = {
  topics: answerTopics,
  domains: answerDomains,
  'domains/topics': answerDomainTopics,
  systemTopics: answerSystemTopics,
  namespaces: answerNamespaces,
  'namespaces/topics': answerNamespaceTopics,
  'namespaces/topics/eventSubscriptions': answerQueueSubscriptions,
}

function createDispatch(options: ArmRouteOptions) {
  const { baseUrl } = options
  const context: ArmContext = {
    ...options,
    endpointOf: ({ label }) => `${baseUrl()}/topics/${label}/api/events`,
    // A path behind the host keeps the data plane of namespaces apart from all else; Azure has a host for each.
    hostnameOf: ({ name }) => `${new URL(baseUrl()).host}/namespaces/${name}`,
  }

  return (call: ArmCall, target: ArmTarget): ArmAnswer | Promise<ArmAnswer> => {
    switch (target.kind) {
      case 'eventSubscription':
        return answerEventSubscription(context, call, target)
      case 'eventSubscriptions':
        return listEventSubscriptions(context, call, target)
      case 'resource':
        return resources[target.type](context, call, target)
      case 'topicTypes':
        return answerTopicTypes(call, target)
      case 'eventTypes':
        return answerEventTypes(context, call, target)
      case 'operation':
        return answerOperation(options, call, target)
      case 'provider':
        return answerProvider(context, call, target)
      case 'providers':
        return answerProviders(context, call, target)
      case 'roleDefinitions':
        return answerRoleDefinitions(context, call, target)
      case 'roleAssignment':
      case 'roleAssignments':
        return answerRoleAssignments(context, call, target)
      case 'permissions':
        return answerPermissions(context, call, target)
      case 'unsupported':
        return answerUnsupported(context, call, target)
      case 'container':
        return answerContainer(context, call, target)
    }
  }
}

async function authenticate(
  { tokens, baseUrl }: Pick<ArmRouteOptions, 'tokens' | 'baseUrl'>,
  request: FastifyRequest,
): Promise<VerifiedToken> {
  const given = readAuthorization(request.headers)
  if (!given) throw armErrors.missingToken()
  if (given.scheme !== 'bearer' || given.credential === '') throw armErrors.wrongScheme()
  const audience = [baseUrl(), `https://${request.host}`, ...knownResources.filter((one) => one.includes('management'))]
  const verdict = await tokens.verifyToken(given.credential, { audience })
  if ('token' in verdict) return verdict.token
  if (verdict.problem === 'expired') throw armErrors.expiredToken(verdict.message)
  if (verdict.problem === 'invalid-audience') throw armErrors.wrongAudience(verdict.message.slice(0, 200))
  throw armErrors.invalidToken()
}

function headerOf(request: FastifyRequest, name: string): string | undefined {
  const value = request.headers[name]
  return typeof value === 'string' && /^[\w-]{1,100}$/.test(value) ? value : undefined
}
