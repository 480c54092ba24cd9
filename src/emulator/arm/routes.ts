import { randomUUID } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { codeOf } from '../../support/error-code.ts'
import type { TokenIssuer, VerifiedToken } from '../entra/token-issuer.ts'
import { knownResources } from '../entra/token-request.ts'
import type { Topic } from '../model/model.ts'
import { recordedBodyLimit } from '../records/records.ts'
import { type RecordingOptions, recordRequests } from '../server/recording.ts'
import { type ArmAnswer, type ArmCall, type ArmResources, resolveScope } from './call.ts'
import { answerContainer } from './containers.ts'
import { ArmError, armErrors, usualArmCode } from './errors.ts'
import { createEventSubscriptionHandler } from './event-subscriptions.ts'
import { listEventSubscriptions } from './lists.ts'
import { createNamespaceHandler, type NamespaceHandlerOptions } from './namespaces.ts'
import type { Operation, Operations } from './operations.ts'
import { type ArmTarget, parseArmPath } from './path.ts'
import { answerPermissions } from './permissions.ts'
import { answerProvider } from './provider.ts'
import type { Provisioning } from './provisioning.ts'
import { createArmRequestLimits } from './request-limits.ts'
import { answerRoleAssignments } from './role-assignments.ts'
import { createTopicHandler } from './topics.ts'

const maxBodyBytes = 4 * 1024 * 1024
const maxPath = 2048

/** What {@link registerArmRoutes} needs. */
export interface ArmRouteOptions
  extends RecordingOptions,
    ArmResources,
    Pick<NamespaceHandlerOptions, 'namespaces' | 'queues'> {
  readonly tokens: Pick<TokenIssuer, 'verifyToken'>
  /** `https://127.0.0.1:{port}`, without a trailing slash. Known once the server listens, hence a function. */
  readonly baseUrl: () => string
  readonly operations: Operations
  readonly provisioning: Provisioning
  /** Answer 409 to a change while another one runs. */
  readonly conflicts: boolean
  /** Refuse calls beyond the hourly limits. */
  readonly throttling: boolean
  /**
   * How long the answer about a running operation may be delayed, in real milliseconds, so that a client that polls
   * every 2 s learns of the end at once.
   */
  readonly statusHoldMs: number
}

/** Adds Azure Resource Manager: every path that no other part has. `app` is a Fastify scope of its own. */
export function registerArmRoutes(app: FastifyInstance, options: ArmRouteOptions): void {
  const { clock, directory, operations, provisioning } = options
  const endpointOf = (topic: Topic) => `${options.baseUrl()}/topics/${topic.name}/api/events`
  // A path behind the host keeps the data plane of namespaces apart from all else; Azure has a host for each.
  const hostname = ({ name }: { readonly name: string }) => `${new URL(options.baseUrl()).host}/namespaces/${name}`
  const eventSubscription = createEventSubscriptionHandler(options, provisioning, options.conflicts)
  const topic = createTopicHandler({ ...options, endpointOf })
  const namespace = createNamespaceHandler({ ...options, hostnameOf: hostname })
  const limits = createArmRequestLimits(clock, { refuse: options.throttling })

  recordRequests(app, 'arm', options, ({ status, code, message = 'The request failed.' }) => ({
    error: { code: code ?? usualArmCode(status), message },
  }))
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'string', bodyLimit: maxBodyBytes }, (_request, body, done) =>
    done(null, body),
  )

  app.setErrorHandler((error, request, reply) => {
    const known = toArmError(error)
    request.outcome.code = known.code
    if (known.status === 401) {
      const tenant = directory.clients[0]?.tenantId ?? 'common'
      reply.header(
        'www-authenticate',
        `Bearer authorization_uri="https://login.windows.net/${tenant}", error="invalid_token", error_description="${known.message}"`,
      )
    }
    reply.header('x-ms-failure-cause', known.status === 401 || known.status === 404 ? 'gateway' : 'service')
    return reply.code(known.status).headers(known.headers).send(known.body)
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

  const dispatch = (call: ArmCall, target: ArmTarget): ArmAnswer | Promise<ArmAnswer> => {
    switch (target.kind) {
      case 'eventSubscription':
        return eventSubscription(call, target)
      case 'eventSubscriptions':
        return listEventSubscriptions(options, call, target)
      case 'topic':
      case 'topics':
        return topic(call, target)
      case 'namespaces':
        return namespace(call, target)
      case 'operation':
        return answerOperation(call, target)
      case 'provider':
        return answerProvider(options, call, target)
      case 'roleAssignment':
      case 'roleAssignments':
        return answerRoleAssignments(options, call, target)
      case 'permissions':
        return answerPermissions(options, call, target)
      case 'unsupported':
        throw armErrors.notSupported(target.type)
      case 'container':
        return answerContainer(options, call, target)
    }
  }

  const answerOperation = async (
    call: ArmCall,
    target: Extract<ArmTarget, { kind: 'operation' }>,
  ): Promise<ArmAnswer> => {
    if (call.method !== 'GET') throw armErrors.methodNotAllowed(call.method, 'GET')
    const { azure } = resolveScope(options, call, target.scope, 'Microsoft.EventGrid/locations/operationsStatus/read')
    const operation = operations.find(target.id)
    if (!operation || operation.subscriptionId !== azure.id) throw armErrors.operationNotFound(target.id.slice(0, 100))
    await waitForEnd(operation, options.statusHoldMs)
    const { result } = operation
    if (target.form === 'operationResults') {
      if (result?.status === 'Failed') throw new ArmError(400, result.error.code, result.error.message)
      const { url, baseUrl } = call
      return result ? { status: 200 } : { status: 202, headers: { location: `${baseUrl}${url}` } }
    }
    return {
      status: 200,
      body: {
        id: `${call.baseUrl.replace(/:443$/, '')}${call.url}`,
        name: operation.id.toLowerCase(),
        ...(result ?? { status: operation.awaitsManualAction ? 'AwaitingManualAction' : 'InProgress' }),
      },
    }
  }

  app.all('/*', async (request: FastifyRequest, reply: FastifyReply) => {
    const [path = '', search = ''] = request.url.split(/\?(.*)/s)
    const query = new URLSearchParams(search)
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
      url: request.url,
      content: typeof request.body === 'string' ? request.body : undefined,
      caller,
      baseUrl: `https://${/:\d+$/.test(host) ? host : `${host}:443`}`,
    }
    request.outcome.body = parsed(call.content)
    reply.headers(limits.count(caller.objectId, { method: request.method, path }))
    const answer = await dispatch(call, target)
    reply.code(answer.status).headers(answer.headers ?? {})
    return answer.body === undefined ? reply.send() : reply.send(answer.body)
  })
}

async function authenticate(
  { tokens, baseUrl }: Pick<ArmRouteOptions, 'tokens' | 'baseUrl'>,
  request: FastifyRequest,
): Promise<VerifiedToken> {
  const { authorization } = request.headers
  if (!authorization) throw armErrors.missingToken()
  const bearer = /^Bearer\s+(\S+)$/i.exec(authorization)?.[1]
  if (!bearer) throw armErrors.wrongScheme()
  const audience = [baseUrl(), `https://${request.host}`, ...knownResources.filter((one) => one.includes('management'))]
  const verdict = await tokens.verifyToken(bearer, { audience })
  if ('token' in verdict) return verdict.token
  if (verdict.problem === 'expired') throw armErrors.expiredToken(verdict.message)
  if (verdict.problem === 'invalid-audience') throw armErrors.wrongAudience(verdict.message.slice(0, 200))
  throw armErrors.invalidToken()
}

/** Waits for the operation's end, but at most `ms`. In real time, as the client polls in real time. */
async function waitForEnd(operation: Operation, ms: number): Promise<void> {
  if (operation.result !== undefined || operation.awaitsManualAction || ms <= 0) return
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms)
  })
  await Promise.race([operation.ended, timeout])
  clearTimeout(timer)
}

function toArmError(error: unknown): ArmError {
  if (error instanceof ArmError) return error
  if (codeOf(error) === 'FST_ERR_CTP_BODY_TOO_LARGE') return armErrors.tooLarge()
  const status = typeof error === 'object' && error !== null && 'statusCode' in error ? error.statusCode : undefined
  return typeof status === 'number' && status >= 400 && status < 500
    ? armErrors.invalidContent('The request could not be read')
    : armErrors.internal()
}

function parsed(content: string | undefined): unknown {
  if (content === undefined || content.length > recordedBodyLimit) return undefined
  try {
    return JSON.parse(content)
  } catch {
    return content
  }
}

function headerOf(request: FastifyRequest, name: string): string | undefined {
  const value = request.headers[name]
  return typeof value === 'string' && /^[\w-]{1,100}$/.test(value) ? value : undefined
}
