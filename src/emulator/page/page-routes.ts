import { randomUUID } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { isRecord } from '../../support/is-record.ts'
import { type BrowserRequest, isForeignFetch, isOwnHost, isOwnOrigin } from '../../support/request-origin.ts'
import type { DeliveryEngine } from '../delivery/delivery-engine.ts'
import type { Directory } from '../entra/directory.ts'
import type { TokenIssuer } from '../entra/token-issuer.ts'
import { ownField } from '../model/json-object.ts'
import type { Publishable } from '../model/resource.ts'
import { publishAudience } from '../topics/authorize-publish.ts'
import { publishLimits } from '../topics/parse-published.ts'
import { publishApiVersion } from '../topics/topic-routes.ts'
import { endedStates } from './event-trail.ts'
import { assetNames, readAsset } from './page-assets.ts'
import { createPageModel, type PageSources } from './page-model.ts'
import { createPageStream, type PageStreamOptions } from './page-stream.ts'
import { viewEventDetail } from './page-view.ts'
import { topicRequest } from './publish-from-page.ts'

/** What the page's routes need. */
export interface PageOptions extends PageSources {
  readonly directory: Directory
  readonly engine: Pick<DeliveryEngine, 'redeliver'>
  readonly tokens: Pick<TokenIssuer, 'issueClientToken'>
  /** The certificate of the emulator's authority, PEM. */
  readonly ca: string
  /** The address that the emulator listens on. */
  readonly host: string
  readonly stream?: PageStreamOptions
}

/** The page loads only its own files, has no inline script or style, and never parses text as markup. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')

const safeHeaders = {
  'content-security-policy': contentSecurityPolicy,
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'cache-control': 'no-store',
} as const

/** The topic's own limit, and room for JSON escapes. */
const maxBodyBytes = 2 * publishLimits.requestBytes

/** Whether a path belongs to the page, which is served over plain http too. */
export function isPagePath(path: string): boolean {
  return /^\/(?:$|\?|page\/)/.test(path)
}

/**
 * Adds the page: `/`, and its files and data under `/page/`. `app` is a Fastify scope of its own. Its requests are not
 * recorded, but what the form publishes goes through the topic's route and is recorded.
 */
export function registerPageRoutes(app: FastifyInstance, options: PageOptions): void {
  const { clock, store, directory, trail } = options
  const stream = createPageStream(createPageModel(options), options.stream)
  trail.listen(stream.changed)
  app.addHook('onClose', async () => stream.close())

  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'string', bodyLimit: maxBodyBytes }, (_request, body, done) =>
    done(null, body),
  )
  app.addHook('onRequest', async (request, reply) => {
    reply.headers(safeHeaders)
    if (!isOwnHost(request, options.host)) return refuse(reply, 403, 'The page is served to this machine only.')
    if (request.method === 'POST') {
      const foreign = foreignPost(request)
      if (foreign !== undefined) return refuse(reply, 403, foreign)
    }
  })
  app.setErrorHandler((error, _request, reply) => {
    const status = isRecord(error) && typeof error.statusCode === 'number' ? error.statusCode : 500
    return refuse(reply, status, status === 413 ? 'The request is too long.' : 'The request could not be answered.')
  })

  for (const name of assetNames()) {
    app.get(name === 'index.html' ? '/' : `/page/${name}`, async (_request, reply) => {
      const { type, content } = await readAsset(name)
      return reply.type(type).send(content)
    })
  }

  // Other sites may link to the page, but not read its data or open streams.
  const ownOnly = async (request: FastifyRequest, reply: FastifyReply) => {
    if (isForeignFetch(request)) return refuse(reply, 403, 'Only the page itself may ask for this.')
  }

  // For programs on this machine that are to use the emulator in the place of Azure: `--emulator`.
  app.get('/page/endpoints', { onRequest: ownOnly }, async () => {
    const { https } = options.addresses
    return { resourceManager: https, authorityHost: https, ca: options.ca, topics: https }
  })

  app.get('/page/state', { onRequest: ownOnly }, async () => stream.state())

  app.get('/page/stream', { onRequest: ownOnly, exposeHeadRoute: false }, (_request, reply) => {
    const { raw } = reply
    const headers = { ...safeHeaders, 'content-type': 'text/event-stream; charset=utf-8' }
    reply.hijack()
    raw.on('error', () => raw.destroy())
    raw.writeHead(200, headers)
    if (!stream.join(raw)) raw.end('event: full\ndata: {}\n\n')
  })

  app.get<{ Params: { key: string } }>('/page/events/:key', { onRequest: ownOnly }, async (request, reply) => {
    const event = trail.find(Number(request.params.key))
    return event ? viewEventDetail(event) : refuse(reply, 404, 'The event is no longer stored.')
  })

  app.get<{ Querystring: { text?: string } }>('/page/search', { onRequest: ownOnly }, async (request) => {
    const text = String(request.query.text ?? '').toLowerCase()
    const found = trail.events().filter(({ body }) => body.toLowerCase().includes(text))
    return found.map(({ key }) => key)
  })

  app.post('/page/redeliver', async (request, reply) => {
    const form = parsed(request.body)
    const event = trail.find(Number(ownField(form, 'key')))
    const subscriptionId = ownField(form, 'subscriptionId')
    const fate = typeof subscriptionId === 'string' ? event?.fates.get(subscriptionId.toLowerCase()) : undefined
    if (!event || !fate) return refuse(reply, 404, 'The event is no longer stored.')
    if (!event.event) return refuse(reply, 409, 'The event is too long to be delivered again.')
    if (!endedStates.has(fate.state)) return refuse(reply, 409, 'The event is still being delivered.')
    if (!options.engine.redeliver(fate.subscriptionId, event.event)) {
      return refuse(reply, 409, 'The event subscription does not accept events.')
    }
    return { status: 200 }
  })

  app.post('/page/publish', async (request, reply) => {
    const form = parsed(request.body)
    const name = ownField(form, 'topic')
    const events = parsed(ownField(form, 'event'))
    const topic = typeof name === 'string' ? store.published(name) : undefined
    if (!topic) return refuse(reply, 404, 'There is no such topic.')
    if (events === undefined) return refuse(reply, 400, 'The event is not valid JSON.')
    const time = new Date(clock.now()).toISOString()
    const { contentType, body } = topicRequest(events, topic.inputSchema, { id: randomUUID, time })
    const answer = await app.inject({
      method: 'POST',
      url: `/topics/${encodeURIComponent(topic.label)}/api/events?api-version=${publishApiVersion}`,
      headers: { 'content-type': contentType, ...(await credential(topic)) },
      payload: body,
    })
    const error = ownField(parsed(answer.body), 'error')
    return {
      status: answer.statusCode,
      ...(error !== undefined && { code: ownField(error, 'code'), message: ownField(error, 'message') }),
    }
  })

  /** The topic's key, or a token of the first client if the topic accepts no keys. */
  async function credential(topic: Publishable): Promise<Record<string, string>> {
    const [client] = directory.clients
    if (!topic.disableLocalAuth || !client) return { 'aeg-sas-key': topic.keys[0] }
    const { tenantId, clientId, objectId } = client
    const token = await options.tokens.issueClientToken({
      tenantId,
      clientId,
      objectId,
      audience: publishAudience,
      lifetimeSeconds: 60,
    })
    return { authorization: `Bearer ${token}` }
  }
}

function refuse(reply: FastifyReply, status: number, message: string): FastifyReply {
  return reply.code(status).send({ error: { message } })
}

/** Parses untrusted JSON; undefined if it is invalid. */
function parsed(text: unknown): unknown {
  if (typeof text !== 'string') return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * Why a POST does not come from the page itself, or undefined if it does. A form of another site can
 * send neither this origin nor JSON.
 */
function foreignPost(request: BrowserRequest): string | undefined {
  if (isForeignFetch(request) || !isOwnOrigin(request)) {
    return 'Only the page itself may publish here. Others publish to the topic.'
  }
  const type = request.headers['content-type']?.split(';')[0]?.trim().toLowerCase()
  return type === 'application/json' ? undefined : 'The request must be application/json.'
}
