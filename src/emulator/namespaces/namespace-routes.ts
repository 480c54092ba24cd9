import { createHash, timingSafeEqual } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { isRecord } from '../../support/is-record.ts'
import type { Directory } from '../entra/directory.ts'
import type { TokenIssuer } from '../entra/token-issuer.ts'
import type { Namespace, NamespaceStore, NamespaceTopic } from '../model/namespace.ts'
import { statusName } from '../model/status-name.ts'
import { type RecordingOptions, recordRequests } from '../server/recording.ts'
import {
  badRequest,
  forbidden,
  methodNotAllowed,
  type NamespaceError,
  notFound,
  topicNotFound,
  unauthorized,
} from './namespace-error.ts'
import type { NamespaceQueues } from './namespace-queues.ts'
import { namespacePublishLimits, parseCloudEvents } from './parse-cloud-events.ts'
import type { PullQueue, SettleOutcome } from './pull-queue.ts'

/** What {@link registerNamespaceRoutes} needs. */
export interface NamespaceRouteOptions extends RecordingOptions {
  readonly store: NamespaceStore
  readonly queues: NamespaceQueues
  readonly tokens: Pick<TokenIssuer, 'verifyToken'>
  readonly directory: Pick<Directory, 'allows'>
}

const audience = 'https://eventgrid.azure.net'

type DataAction = 'send' | 'receive'

const apiVersions = ['2023-11-01', '2024-06-01']
const newest = '2024-06-01'
const settleOperations = ['acknowledge', 'release', 'reject', 'renewLock'] as const
type SettleOperation = (typeof settleOperations)[number]
const releaseDelays = ['0', '10', '60', '600', '3600']
const maxLockTokens = 1_000

/** What a request is about, once it is found and allowed. */
interface Target {
  readonly namespace: Namespace
  readonly topic: NamespaceTopic
}

/**
 * Adds the data plane of namespaces below `/namespaces/{name}`: publish, receive, acknowledge, release, reject and
 * renewLock (Event Grid namespaces, data plane 2024-06-01). `app` is a Fastify scope of its own.
 */
export function registerNamespaceRoutes(app: FastifyInstance, options: NamespaceRouteOptions): void {
  const { store, queues } = options
  recordRequests(app, 'namespace', options, ({ status, code = statusName(status), message }) => ({
    error: { code, message: message ?? `The request failed: ${code}.` },
  }))
  app.removeAllContentTypeParsers()
  const parser = { parseAs: 'buffer', bodyLimit: 2 * namespacePublishLimits.bodyBytes } as const
  app.addContentTypeParser('*', parser, (_request, body, done) => done(null, body))

  interface Params {
    readonly namespace: string
    readonly topic: string
    readonly subscription: string
  }

  app.all<{ Params: Params }>('/namespaces/:namespace/topics/:topic', async (request, reply) => {
    const [name, operation] = splitOperation(request.params.topic)
    if (operation !== 'publish') return refuse(request, reply, notFound('There is no such operation.'))
    const found = await find(request, name, 'send')
    if ('error' in found) return refuse(request, reply, found.error)
    const parsed = parseCloudEvents(request.headers, bodyOf(request))
    if ('error' in parsed) return refuse(request, reply, parsed.error)
    queues.publish(found.target.topic, parsed.events)
    return reply.code(200).send({})
  })

  app.all<{ Params: Params }>(
    '/namespaces/:namespace/topics/:topic/eventsubscriptions/:subscription',
    async (request, reply) => {
      const [name, operation = ''] = splitOperation(request.params.subscription)
      const found = await find(request, request.params.topic, 'receive')
      if ('error' in found) return refuse(request, reply, found.error)
      const queue = queues.queue(`${found.target.topic.id}/eventSubscriptions/${name}`)
      if (!queue) return refuse(request, reply, notFound(`The event subscription '${name}' was not found.`))
      if (operation === 'receive') return receive(request, reply, queue)
      const settle = settleOperations.find((known) => known === operation)
      if (!settle) return refuse(request, reply, notFound('There is no such operation.'))
      return settleTokens(request, reply, queue, settle)
    },
  )

  async function find(
    request: FastifyRequest<{ Params: Params }>,
    topicName: string,
    action: DataAction,
  ): Promise<{ readonly target: Target } | { readonly error: NamespaceError }> {
    if (request.method !== 'POST') return { error: methodNotAllowed('Only POST is supported.') }
    const version = queryOf(request).get('api-version')
    if (version === null || !apiVersions.includes(version)) {
      return { error: badRequest(`Unknown api version '${version ?? ''}'. Supported: ${apiVersions.join(', ')}.`) }
    }
    const namespace = store.namespace(request.params.namespace)
    if (!namespace) return { error: notFound('The namespace was not found.') }
    const topic = store.topic(`${namespace.id}/topics/${topicName}`)
    const refusal = await authorize(request, namespace, topic, action)
    if (refusal) return { error: refusal }
    if (topic) return { target: { namespace, topic } }
    const missing = `The topic '${topicName.slice(0, 50)}' was not found.`
    return { error: action === 'send' ? topicNotFound(missing) : notFound(missing) }
  }

  /** Why the caller is refused; `undefined` where he is not. */
  async function authorize(
    request: FastifyRequest,
    namespace: Namespace,
    topic: NamespaceTopic | undefined,
    action: DataAction,
  ): Promise<NamespaceError | undefined> {
    const [, scheme = '', credential = ''] = /^(\S+) +(\S+)$/.exec(request.headers.authorization ?? '') ?? []
    if (scheme.toLowerCase() === 'sharedaccesskey') {
      const keys = [...namespace.keys, ...(topic?.keys ?? [])]
      return keys.some((key) => isSame(key, credential)) ? undefined : unauthorized('The access key is not valid.')
    }
    if (scheme.toLowerCase() !== 'bearer') return unauthorized('The request carries no credential.')
    const verdict = await options.tokens.verifyToken(credential, { audience })
    if ('problem' in verdict) return unauthorized(`The access token is not valid. ${verdict.message}`.trim())
    request.outcome.clientId = verdict.token.clientId
    const asked = {
      principalId: verdict.token.objectId,
      data: true,
      action: `Microsoft.EventGrid/events/${action}/action`,
      scope: topic?.id ?? namespace.id,
    }
    if (options.directory.allows(asked)) return undefined
    return forbidden(`The principal does not have permission to ${action} events at ${asked.scope}.`)
  }

  async function receive(request: FastifyRequest, reply: FastifyReply, queue: PullQueue): Promise<FastifyReply> {
    const query = queryOf(request)
    const maxEvents = integerIn(query.get('maxEvents') ?? '1', 1, 100)
    const maxWaitSeconds = integerIn(query.get('maxWaitTime') ?? '60', 10, 120)
    if (maxEvents === undefined) return refuse(request, reply, badRequest('maxEvents must be from 1 to 100.'))
    if (maxWaitSeconds === undefined) return refuse(request, reply, badRequest('maxWaitTime must be from 10 to 120.'))
    const gone = new AbortController()
    reply.raw.once('close', () => gone.abort())
    const events = await queue.receive({ maxEvents, maxWaitMs: maxWaitSeconds * 1000, signal: gone.signal })
    const value = events.map(({ event, lockToken, deliveryCount }) => ({
      brokerProperties: { lockToken, deliveryCount },
      event,
    }))
    // The client went away between the lock and the answer: the events need not wait for the end of their locks.
    if (gone.signal.aborted) for (const { lockToken } of events) queue.release(lockToken, 0)
    return reply.code(200).send({ value })
  }

  function settleTokens(
    request: FastifyRequest,
    reply: FastifyReply,
    queue: PullQueue,
    operation: SettleOperation,
  ): FastifyReply {
    const query = queryOf(request)
    const delay = query.get('releaseDelayInSeconds') ?? '0'
    if (query.get('api-version') !== newest && (operation === 'renewLock' || delay !== '0')) {
      return refuse(request, reply, badRequest(`${operation} needs api-version ${newest}.`))
    }
    if (operation === 'release' && !releaseDelays.includes(delay)) {
      return refuse(request, reply, badRequest(`releaseDelayInSeconds must be one of ${releaseDelays.join(', ')}.`))
    }
    const lockTokens = lockTokensOf(bodyOf(request))
    if (!lockTokens) return refuse(request, reply, badRequest('The body must be { "lockTokens": [ ... ] }.'))
    const settle: Readonly<Record<SettleOperation, (token: string) => SettleOutcome>> = {
      acknowledge: queue.acknowledge,
      release: (token) => queue.release(token, Number(delay) * 1000),
      reject: queue.reject,
      renewLock: queue.renewLock,
    }
    const outcomes = lockTokens.map((lockToken) => ({ lockToken, outcome: settle[operation](lockToken) }))
    return reply.code(200).send({
      succeededLockTokens: outcomes.filter(({ outcome }) => outcome === 'done').map(({ lockToken }) => lockToken),
      failedLockTokens: outcomes.flatMap(({ lockToken, outcome }) =>
        outcome === 'done' ? [] : [{ lockToken, error: { code: outcome, message: tokenMessages[outcome] } }],
      ),
    })
  }
}

const tokenMessages: Readonly<Record<Exclude<SettleOutcome, 'done'>, string>> = {
  BadToken: 'The lock token is not well formed.',
  TokenLost: 'The lock token was not found, or its lock has expired.',
}

function refuse(request: FastifyRequest, reply: FastifyReply, { status, code, message }: NamespaceError): FastifyReply {
  request.outcome.code = code
  return reply.code(status).header('x-ms-error-code', code).send({ error: { code, message } })
}

/** `orders:publish` as name and operation. */
function splitOperation(segment: string): [name: string, operation: string | undefined] {
  const [name = '', operation] = segment.split(':')
  return [name, operation]
}

const queryOf = (request: FastifyRequest) => new URLSearchParams(request.url.split('?')[1] ?? '')

const bodyOf = ({ body }: FastifyRequest) => (Buffer.isBuffer(body) ? body : Buffer.alloc(0))

function integerIn(text: string, min: number, max: number): number | undefined {
  const value = /^\d{1,4}$/.test(text) ? Number(text) : Number.NaN
  return value >= min && value <= max ? value : undefined
}

function lockTokensOf(body: Buffer): readonly string[] | undefined {
  try {
    const parsed: unknown = JSON.parse(body.toString('utf8'))
    const tokens = isRecord(parsed) ? parsed.lockTokens : undefined
    const areTokens = Array.isArray(tokens) && tokens.length > 0 && tokens.length <= maxLockTokens
    return areTokens && tokens.every((token) => typeof token === 'string') ? tokens : undefined
  } catch {
    return undefined
  }
}

function isSame(one: string, other: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(one), digest(other))
}
