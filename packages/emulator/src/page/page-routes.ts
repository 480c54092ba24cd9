// Page's URLs (`/page/...`), content security policy, who may ask (own host, origin), search.
import { readdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { extname } from 'node:path'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import {
  type BrowserRequest,
  isForeignFetch,
  isOwnHost,
  isOwnOrigin,
} from '../../../../src/support/net/request-origin.ts'
import { isRecord } from '../../../../src/support/text/is-record.ts'
import { readJson } from '../../../../src/support/text/json-text.ts'
import { ownField } from '../model/events/json-object.ts'
import { readBodies } from '../server/face.ts'
import { queryOf } from '../server/query.ts'
import { publishLimits } from '../topics/parse-published.ts'
import { publishRequest, redeliver, tryNow } from './page-actions.ts'
import { createPageModel, type PageSources } from './page-model.ts'
import { createPageStream } from './page-stream.ts'
import { viewEventDetail, viewExported, viewHeld } from './page-view.ts'

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

/** The page's own files, beside this one both in the sources and in what is built from them. */
const assets = new URL('./assets/', import.meta.url)

const assetTypes: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.json': 'application/json; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
}

/** Most events of a queue that are shown: the oldest. */
const peekedEvents = 50

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
export function registerPageRoutes(app: FastifyInstance, options: PageSources): void {
  const { trail } = options
  const stream = createPageStream(createPageModel(options))
  trail.listen(stream)
  app.addHook('onClose', async () => stream.close())

  readBodies(app, maxBodyBytes, String)
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

  for (const name of readdirSync(assets)) {
    app.get(name === 'index.html' ? '/' : `/page/${name}`, async (_request, reply) =>
      reply.type(assetTypes[extname(name)] ?? '').send(await readFile(new URL(name, assets))),
    )
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

  app.get('/page/search', { onRequest: ownOnly }, async (request) => {
    const text = (queryOf(request).get('text') ?? '').toLowerCase()
    const found = trail.events().filter(({ body }) => body.toLowerCase().includes(text))
    return found.map(({ key }) => key)
  })

  app.get('/page/queue', { onRequest: ownOnly }, async (request, reply) => {
    const queue = options.queues.queue(queryOf(request).get('id') ?? '')
    return queue ? queue.peek(peekedEvents).map(viewHeld) : refuse(reply, 404, 'There is no such event subscription.')
  })

  for (const [path, act] of [
    ['/page/redeliver', redeliver],
    ['/page/try', tryNow],
  ] as const) {
    app.post(path, async (request, reply) => {
      const refused = act(options, parsed(request.body))
      return refused ? refuse(reply, refused.refusal.status, refused.refusal.message) : { status: 200 }
    })
  }

  app.post('/page/export', async (request) => {
    const keys = ownField(parsed(request.body), 'keys')
    const wanted = new Set(Array.isArray(keys) ? keys : [])
    return trail.events().flatMap((event) => (wanted.has(event.key) ? [viewExported(event)] : []))
  })

  app.post('/page/publish', async (request, reply) => {
    const published = await publishRequest(options, parsed(request.body))
    if ('refusal' in published) return refuse(reply, published.refusal.status, published.refusal.message)
    const answer = await app.inject(published.request)
    const error = ownField(parsed(answer.body), 'error')
    return { status: answer.statusCode, code: ownField(error, 'code'), message: ownField(error, 'message') }
  })
}

function refuse(reply: FastifyReply, status: number, message: string): FastifyReply {
  return reply.code(status).send({ error: { message } })
}

const parsed = (text: unknown) => (typeof text === 'string' ? readJson(text) : undefined)

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
