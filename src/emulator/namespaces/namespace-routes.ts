import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { codeOf } from '../../support/error-code.ts'
import type { NamespaceTopic } from '../model/namespace.ts'
import { type NamespaceStore, namespaceNamed } from '../model/namespace-store.ts'
import { statusName } from '../model/status-name.ts'
import { type RecordingOptions, recordRequests } from '../server/recording.ts'
import { authorizeNamespaceCall, type DataAction, type NamespaceAccess } from './authorize-namespace-call.ts'
import {
  badRequest,
  methodNotAllowed,
  type NamespaceError,
  notFound,
  throttled,
  topicNotFound,
} from './namespace-error.ts'
import type { NamespaceQueues } from './namespace-queues.ts'
import { messageTooLarge, namespacePublishLimits, parseCloudEvents } from './parse-cloud-events.ts'
import type { PullQueue } from './pull-queue.ts'
import { dataPlaneVersions, settleLockTokens, settleOperations } from './settle-lock-tokens.ts'

export interface NamespaceRouteOptions extends RecordingOptions, NamespaceAccess {
  readonly store: NamespaceStore
  readonly queues: NamespaceQueues
  /** Counts published events. */
  readonly figures: { add(name: 'published', count: number): void }
}

interface Params {
  readonly namespace: string
  readonly topic: string
  readonly subscription: string
}

/**
 * Adds the data plane of namespaces below `/namespaces/{name}`: publish, receive, acknowledge, release, reject and
 * renewLock (Event Grid namespaces, data plane 2024-06-01). `app` is a Fastify scope of its own.
 */
export function registerNamespaceRoutes(app: FastifyInstance, options: NamespaceRouteOptions): void {
  const { queues, figures } = options
  recordRequests(app, 'namespace', options, ({ status, code = statusName(status), message }) => ({
    error: { code, message: message ?? `The request failed: ${code}.` },
  }))
  app.removeAllContentTypeParsers()
  const parser = { parseAs: 'buffer', bodyLimit: 2 * namespacePublishLimits.bodyBytes } as const
  app.addContentTypeParser('*', parser, (_request, body, done) => done(null, body))
  app.setErrorHandler((error, request, reply) => {
    const isTooLarge = codeOf(error) === 'FST_ERR_CTP_BODY_TOO_LARGE'
    return refuse(request, reply, isTooLarge ? messageTooLarge : badRequest('The request cannot be read.'))
  })

  app.all<{ Params: Params }>('/namespaces/:namespace/topics/:topic', async (request, reply) => {
    const [name, operation] = splitOperation(request.params.topic)
    if (operation !== 'publish') return refuse(request, reply, notFound('There is no such operation.'))
    const found = await findTopic(options, request, name, 'send')
    if ('error' in found) return refuse(request, reply, found.error)
    if (queues.full()) {
      reply.header('retry-after', '1')
      return refuse(request, reply, throttled)
    }
    const parsed = parseCloudEvents(request.headers, bodyOf(request))
    if ('error' in parsed) return refuse(request, reply, parsed.error)
    queues.publish(found.topic, parsed.events)
    figures.add('published', parsed.events.length)
    return reply.code(200).send({})
  })

  app.all<{ Params: Params }>(
    '/namespaces/:namespace/topics/:topic/eventsubscriptions/:subscription',
    async (request, reply) => {
      const [name, operation = ''] = splitOperation(request.params.subscription)
      const found = await findTopic(options, request, request.params.topic, 'receive')
      if ('error' in found) return refuse(request, reply, found.error)
      const queue = queues.queue(`${found.topic.id}/eventSubscriptions/${name}`)
      if (!queue) return refuse(request, reply, notFound(`The event subscription '${name}' was not found.`))
      if (operation === 'receive') return receive(request, reply, queue)
      const settle = settleOperations.find((known) => known === operation)
      if (!settle) return refuse(request, reply, notFound('There is no such operation.'))
      const settled = settleLockTokens(queue, settle, queryOf(request), bodyOf(request))
      return 'error' in settled ? refuse(request, reply, settled.error) : reply.code(200).send(settled)
    },
  )
}

/** The topic that an authorized call is about, or the error to answer. */
async function findTopic(
  options: NamespaceRouteOptions,
  request: FastifyRequest<{ Params: Params }>,
  topicName: string,
  action: DataAction,
): Promise<{ readonly topic: NamespaceTopic } | { readonly error: NamespaceError }> {
  const { store } = options
  if (request.method !== 'POST') return { error: methodNotAllowed('Only POST is supported.') }
  const version = queryOf(request).get('api-version')
  if (version === null || !dataPlaneVersions.includes(version)) {
    const supported = dataPlaneVersions.join(', ')
    return { error: badRequest(`Unknown api version '${version ?? ''}'. Supported: ${supported}.`) }
  }
  const namespace = namespaceNamed(store, request.params.namespace)
  if (!namespace) return { error: notFound('The namespace was not found.') }
  const topic = store.topics.get(`${namespace.id}/topics/${topicName}`)
  const refusal = await authorizeNamespaceCall(options, request, { namespace, topic, action })
  if (refusal) return { error: refusal }
  if (topic) return { topic }
  const missing = `The topic '${topicName.slice(0, 50)}' was not found.`
  return { error: action === 'send' ? topicNotFound(missing) : notFound(missing) }
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
