/** Which requests a topic takes, and what is answered to a publisher, to who asks for its health, and to a call of a validation URL. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { AcceptedEvent } from '../model/events/accepted-event.ts'
import { textOf } from '../model/events/event-text.ts'
import { admitsAddress } from '../model/resources/resource.ts'
import { publishedAt, type Store } from '../model/resources/store.ts'
import { statusName } from '../model/wording.ts'
import { shownPath } from '../records/shown-request.ts'
import type { RecordingOptions } from '../server/recording.ts'
import { queryOf, recordedBody, serveAs } from '../server/service.ts'
import { regionOfHost } from '../server/tls/connect-proxy.ts'
import { type Acceptance, acceptEvents, sourcedEvents, type TopicRates, topicRate } from './accept-events.ts'
import { authorizePublish, type PublishAccess } from './authorize-publish.ts'
import { parsePublished, publishLimits } from './parse-published.ts'
import {
  addressRefused,
  faultBody,
  internalError,
  invalidInput,
  methodNotAllowed,
  notFound,
  PublishFault,
  throttled,
  tooLarge,
  unsupportedApiVersion,
} from './publish-fault.ts'

/**
 * The only version of the data plane (Event Grid: post-to-custom-topic). It is optional, as Microsoft's quickstart
 * leaves it out.
 */
export const publishApiVersion = '2018-01-01'

const healthPath = '/api/health'

/** Takes published events, and the calls of validation URLs. */
export interface EventIntake extends Acceptance {
  /** Whether the limit of pending events is reached. */
  full(): boolean
  /** Has the endpoints of event subscriptions at these sources asked again that have not consented; resolves when they have answered. */
  askAgain(sources: readonly string[]): Promise<void>
  /** False if the validation URL is unknown or expired. */
  confirmValidation(id: string, token: string): boolean
}

export interface TopicRouteOptions extends RecordingOptions, PublishAccess {
  readonly store: Store
  readonly intake: EventIntake
  /** Whether requests beyond Azure's rates are refused. @default false */
  readonly throttling?: boolean
  readonly rates: TopicRates
}

/**
 * Adds the routes of custom topics and domains, `/topics/:name/api/events` and `/topics/:name/api/health`, and those of the manual
 * handshake, `/eventsubscriptions/:name/validate`. `app` is a Fastify scope of their own.
 */
export function registerTopicRoutes(app: FastifyInstance, options: TopicRouteOptions): void {
  const { clock, store, intake, rates } = options

  // Before a fault or a refusal may answer: a refused publish is recorded with its topic.
  app.addHook('onRequest', async (request) => {
    const [, topic, path] = /^\/topics\/([^/?]+)([^?]*)/.exec(request.url) ?? []
    if (topic !== undefined && path !== healthPath) request.outcome.publish = { topic: shownPath(topic) }
  })
  serveAs(app, options, {
    ...{ route: 'topic', bodyLimit: publishLimits.requestBytes, read: (body) => body, own: PublishFault },
    tooLarge: () => tooLarge(publishLimits.requestBytes),
    unreadable: () => invalidInput('The request could not be read.'),
    internal: internalError,
    injected({ status, code, message }) {
      const name = code ?? statusName(status)
      return new PublishFault(status, name, message ?? `The request failed: ${name}.`)
    },
    bodyOf: (fault, { id }) => faultBody(fault, id, clock.now()),
  })
  app.addHook('onSend', async (request, reply, payload) => {
    reply.header('x-ms-request-id', request.id)
    // Recorded, .NET 2024. A browser heeds it over https alone.
    if (request.protocol === 'https') reply.header('strict-transport-security', 'max-age=31536000; includeSubDomains')
    if (typeof payload === 'string' && payload.startsWith('{"error"')) {
      reply.type('application/json; charset=utf-8')
    }
    return payload
  })
  const refuseUnknown = (request: FastifyRequest): never => {
    throw notFound(fullUrl(request))
  }
  app.setNotFoundHandler(refuseUnknown)

  // Azure's host name has a region. The emulator's own address has none.
  const targetOf = (request: FastifyRequest<{ Params: { name: string } }>) => {
    const target = publishedAt(store, request.params.name, regionOfHost(request.host))
    if (!target) throw notFound(fullUrl(request))
    return target
  }

  // For anybody (Event Grid: custom-disaster-recovery-client-side).
  app.all<{ Params: { name: string } }>(`/topics/:name${healthPath}`, async (request, reply) => {
    targetOf(request)
    if (request.method === 'GET' || request.method === 'HEAD') return reply.code(200).send()
    reply.header('allow', 'GET, HEAD')
    throw methodNotAllowed(request.method)
  })

  app.all<{ Params: { name: string } }>('/topics/:name/api/events', async (request, reply) => {
    const url = fullUrl(request)
    const target = targetOf(request)
    if (request.method !== 'POST') {
      reply.header('allow', 'POST')
      throw methodNotAllowed(request.method)
    }
    // Below Azure's host name of the topic, the path differs from that of the route.
    const parsedUrl = URL.parse(request.originalUrl, 'http://localhost')
    if (!parsedUrl) throw notFound(url)
    const version = queryOf(request).get('api-version') ?? publishApiVersion
    if (version !== publishApiVersion) throw unsupportedApiVersion(url, version)
    if (!admitsAddress(target, request.ip)) throw addressRefused(request.host, request.ip)
    await authorizePublish(options, request, target, parsedUrl.pathname)
    const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
    if (intake.full()) throw tooMany(reply)
    request.outcome.body = recordedBody(body)
    // `eventgrid-binding check` sends it: what refuses it says only that the credential is right.
    if (isEmptyList(body)) request.outcome.publish = { topic: target.name, isCheck: true }
    const events = parsePublished(request.headers, body, target, clock.now())
    if (options.throttling && !rates.take(target.id, sizesOf(events, body.length))) throw tooMany(reply)
    const sourced = sourcedEvents(target, events)
    await intake.askAgain(sourced.flatMap(({ sources }) => sources))
    request.outcome.publish = acceptEvents(intake, target.name, sourced)
    return reply.code(200).header('api-supported-versions', publishApiVersion).send()
  })

  // Resource Manager has all other paths, and would ask for a token.
  for (const path of ['/topics/*', '/namespaces/*']) app.all(path, refuseUnknown)

  app.route({
    method: ['GET', 'POST'],
    url: '/eventsubscriptions/:name/validate',
    async handler(request, reply) {
      const query = queryOf(request)
      if (!intake.confirmValidation(query.get('id') ?? '', query.get('token') ?? '')) {
        throw new PublishFault(400, 'BadRequest', 'The validation code is not known, or it has expired.')
      }
      return reply
        .code(200)
        .type('application/json; charset=utf-8')
        .send('"Webhook successfully validated as a subscription endpoint"')
    },
  })
}

const isEmptyList = (body: Buffer) => body.length < 10 && body.toString().trim() === '[]'

function tooMany(reply: FastifyReply): PublishFault {
  reply.header('retry-after', '1')
  return throttled()
}

/** The bytes of each event. A small request is divided evenly, as each of its events counts once. */
function sizesOf(events: readonly AcceptedEvent[], bodyBytes: number): number[] {
  const share = bodyBytes / events.length
  if (bodyBytes <= topicRate.step) return events.map(() => share)
  return events.map(({ body }) => Buffer.byteLength(textOf(body)))
}

function fullUrl(request: FastifyRequest): string {
  return `${request.protocol}://${request.host}${request.originalUrl}`
}
