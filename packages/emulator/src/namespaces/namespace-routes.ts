/** Which requests the data plane of a namespace takes, and what is answered. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type EventText, textOf } from '../model/events/event-text.ts'
import type { NamespaceStore, NamespaceTopic } from '../model/resources/namespace.ts'
import { named } from '../model/resources/resource.ts'
import { advice, statusName, withAdvice } from '../model/wording.ts'
import { eventList, publishSummary, untakenBy } from '../records/record-types.ts'
import { shownPath } from '../records/shown-request.ts'
import type { RecordingOptions } from '../server/recording.ts'
import { queryOf, recordedBody, serveAs } from '../server/service.ts'
import {
  authorizeNamespaceCall,
  badRequest,
  type DataAction,
  dataPlaneVersions,
  messageTooLarge,
  type NamespaceAccess,
  NamespaceError,
  namespaceErrorBody,
  namespaceErrorHeaders,
  namespaceInternalError,
  namespaceMethodNotAllowed,
  namespaceNotFound,
  namespacePublishLimits,
  namespaceThrottled,
  numberOf,
  parseCloudEvents,
  settleLockTokens,
  settleOperations,
} from './namespace-calls.ts'
import type { NamespaceQueues } from './namespace-queues.ts'
import type { PullQueue, ReceivedEvent } from './pull-queue.ts'

export interface NamespaceRouteOptions extends RecordingOptions, NamespaceAccess {
  readonly store: NamespaceStore
  readonly queues: NamespaceQueues
  /**
   * Takes events of a namespace topic. Returns those that no event subscription wants, and which event subscription does not match which
   * event. Throws if the events cannot be persisted: then none is taken.
   */
  readonly distributeToTopic: (
    topic: NamespaceTopic,
    events: readonly EventText[],
  ) => { readonly unwanted: readonly EventText[]; readonly mismatches: ReturnType<NamespaceQueues['mismatches']> }
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
  const { queues, distributeToTopic, clock } = options
  // Before a fault or a refusal may answer: a refused publish is recorded with its topic.
  app.addHook('onRequest', async (request) => {
    const [, topic] = /\/topics\/([^/?:]+):publish/.exec(request.url) ?? []
    if (topic !== undefined) request.outcome.publish = { topic: shownPath(topic) }
  })
  serveAs(app, options, {
    ...{
      route: 'namespace',
      bodyLimit: 2 * namespacePublishLimits.bodyBytes,
      read: (body) => body,
      own: NamespaceError,
    },
    tooLarge: messageTooLarge,
    unreadable: () => badRequest('The request cannot be read.'),
    internal: () => namespaceInternalError('The request could not be processed; try again later.'),
    injected({ status, code, message }) {
      const name = code ?? statusName(status)
      return new NamespaceError(status, name, message ?? `The request failed: ${name}.`)
    },
    bodyOf: (error, { id }) => namespaceErrorBody(error, id, clock.now()),
    headersOf: namespaceErrorHeaders,
  })

  app.all<{ Params: Params }>('/namespaces/:namespace/topics/:topic', async (request, reply) => {
    const [name, operation] = splitOperation(request.params.topic)
    if (operation !== 'publish') throw namespaceNotFound('There is no such operation.')
    const topic = await findTopic(options, request, name, 'send')
    if (queues.full()) {
      reply.header('retry-after', '1')
      throw namespaceThrottled('Too many events are pending; try again later.')
    }
    const events = parseCloudEvents(request.headers, bodyOf(request))
    const { unwanted, mismatches } = distributeToTopic(topic, events)
    const left = new Set(unwanted)
    const unmatched = untakenBy(mismatches.filter(({ event }) => left.has(event.body)))
    const summary = publishSummary(name, events, unwanted, nameOfEvent)
    request.outcome.publish = { ...summary, ...(unmatched.length > 0 && { unmatched }) }
    return sendPlainJson(reply, {})
  })

  app.all<{ Params: Params }>(
    '/namespaces/:namespace/topics/:topic/eventsubscriptions/:subscription',
    async (request, reply) => {
      const [name, operation = ''] = splitOperation(request.params.subscription)
      const topic = await findTopic(options, request, request.params.topic, 'receive')
      const queue = queues.queue(`${topic.id}/eventSubscriptions/${name}`)
      if (!queue) throw namespaceNotFound(`Subscription '${name.slice(0, 50)}' is not found`)
      if (operation === 'receive') {
        const events = await receive(request, reply, queue)
        if (events.length > 0) {
          request.outcome.receive = {
            topic: topic.name,
            subscriptionName: name,
            events: eventList(events, ({ event }) => nameOfEvent(event)),
            deliveryCount: Math.max(...events.map(({ deliveryCount }) => deliveryCount)),
          }
        }
        return sendReceived(reply, events)
      }
      // An example of the specification alone has it (2024-06-01).
      if (operation === 'isEmpty') return sendPlainJson(reply, { isEmpty: queue.size === 0 })
      const settle = settleOperations.find((known) => known === operation)
      if (!settle) throw namespaceNotFound('There is no such operation.')
      return sendPlainJson(reply, settleLockTokens(queue, settle, queryOf(request), bodyOf(request)))
    },
  )
}

/** The topic that an authorized call is about. Throws a NamespaceError. */
async function findTopic(
  options: NamespaceRouteOptions,
  request: FastifyRequest<{ Params: Params }>,
  topicName: string,
  action: DataAction,
): Promise<NamespaceTopic> {
  const { store } = options
  if (request.method !== 'POST') throw namespaceMethodNotAllowed('Only POST is supported.')
  const version = queryOf(request).get('api-version')
  if (version === null || !dataPlaneVersions.includes(version)) {
    const supported = dataPlaneVersions.join(', ')
    throw badRequest(`Unknown api version '${version ?? ''}'. Supported: ${supported}.`)
  }
  const namespace = named(store.namespaces.all(), request.params.namespace)
  if (!namespace) throw namespaceNotFound(withAdvice('The namespace was not found.', advice.namespace))
  const topic = store.topics.get(`${namespace.id}/topics/${topicName}`)
  await authorizeNamespaceCall(options, request, { namespace, topic, action })
  request.outcome.body = recordedBody(bodyOf(request))
  if (!topic) throw namespaceNotFound(withAdvice(`Topic '${topicName.slice(0, 50)}' is not found.`, advice.topic))
  return topic
}

async function receive(
  request: FastifyRequest,
  reply: FastifyReply,
  queue: PullQueue,
): Promise<readonly ReceivedEvent[]> {
  const query = queryOf(request)
  const maxEvents = numberOf(query, 'maxEvents', 1, 1, 100)
  const maxWaitSeconds = numberOf(query, 'maxWaitTime', 60, 10, 120)
  const gone = new AbortController()
  reply.raw.once('close', () => gone.abort())
  const events = await queue.receive(maxEvents, maxWaitSeconds * 1000, gone.signal)
  // The client went away between the lock and the answer: the events need not wait for the end of their locks.
  if (gone.signal.aborted) for (const { lockToken } of events) queue.release(lockToken, 0)
  return events
}

function sendReceived(reply: FastifyReply, events: readonly ReceivedEvent[]): FastifyReply {
  const value = events.map(({ event, lockToken, deliveryCount }) => {
    const brokerProperties = JSON.stringify({ lockToken, deliveryCount })
    return `{"brokerProperties":${brokerProperties},"event":${textOf(event)}}`
  })
  return reply
    .code(200)
    .type('application/json; charset=utf-8')
    .send(`{"value":[${value.join(',')}]}`)
}

const nameOfEvent = ({ value }: EventText) => ({ type: String(value.type), id: String(value.id) })

/** Without a charset, as recorded for publish and settlements. Fastify adds one to a text. */
function sendPlainJson(reply: FastifyReply, answer: object): FastifyReply {
  return reply
    .code(200)
    .header('content-type', 'application/json')
    .send(Buffer.from(JSON.stringify(answer)))
}

/** `orders:publish` as name and operation. */
function splitOperation(segment: string): [name: string, operation: string | undefined] {
  const [name = '', operation] = segment.split(':')
  return [name, operation]
}

const bodyOf = ({ body }: FastifyRequest) => (Buffer.isBuffer(body) ? body : Buffer.alloc(0))
