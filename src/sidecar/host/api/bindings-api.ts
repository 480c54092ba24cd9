/** Dapr's HTTP API of `run`: its routes and its errors. */
import { createServer } from 'node:http'
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify'
import { z } from 'zod'
import type { Secret } from '../../../core/secret.ts'
import { readTraceContext } from '../../../core/telemetry.ts'
import { maxMetadataNames } from '../../../publisher/payload.ts'
import { type ClosableServer, closable } from '../../../support/net/closable-server.ts'
import { isForeignFetch, isOwnHost, isOwnOrigin } from '../../../support/net/hosts.ts'
import { isRecord, memberTexts, readJson } from '../../../support/text/json-text.ts'
import { isSameText } from '../../../support/text/text.ts'
import { tooManyNames, whileAwaited } from '../../shared/invoke.ts'
import { type CallOutput, OutputCallError } from '../call-output.ts'
import type { ComponentSet } from '../component-set.ts'

/** Where the application listens, and how many requests it gets at once. */
interface AppAddress {
  readonly address: string
  readonly port: number
  readonly maxConcurrency: number
  /** @default http */
  readonly protocol?: 'http' | 'grpc'
}

export interface ApiOptions {
  readonly running: Pick<ComponentSet, 'components'>
  readonly appId: string
  /** Where the application listens; without it components only publish. */
  readonly app: AppAddress | undefined
  readonly version: string
  /** What callers have added to the metadata. */
  readonly extended: Map<string, string>
  readonly callOutput: CallOutput
  /** The address that the API listens on: a loopback name, an IP address, or `0.0.0.0` or `::` for all. */
  readonly listeningOn: string
  /** The `dapr-api-token` of every request, health checks aside. */
  readonly token?: Secret | undefined
  readonly onShutdown: () => void
}

export interface BindingsApiOptions extends ApiOptions {
  /** What is not ready yet. Empty: everything is ready. */
  readonly notReady: () => readonly ('components' | 'app')[]
}

const requestTimeout = 30_000
/** Longer than clients keep an idle connection. */
const keepAliveTimeout = 72_000
const bodyLimit = 4 * 1024 * 1024
/** Node's clients accept 16 KiB of headers. The ids of a large batch would not fit. */
const maxHeaderLength = 4_096
const maxExtendedKeys = 100
const maxExtendedLength = 65_536

const malformedPath = 'the path is too long, or a % in it does not begin an escaped character'

const invokeRequest = z.object({
  operation: z.string().nullish(),
  data: z.unknown().optional(),
  metadata: z.record(z.string(), z.string()).nullish(),
})

/** Dapr's HTTP API as far as bindings need it: bindings, health, metadata and shutdown. Does not listen yet. */
export function createBindingsApi(options: BindingsApiOptions): FastifyInstance {
  const { callOutput, notReady, extended, token } = options
  // A server for each address of a name.
  const servers: ClosableServer[] = []
  const server = fastify({
    bodyLimit,
    exposeHeadRoutes: false,
    serverFactory(handler) {
      const one = createServer({ requestTimeout, keepAliveTimeout }, handler)
      servers.push(closable(one))
      return one
    },
    // A component's name, every character escaped.
    routerOptions: { maxParamLength: 3_072 },
    // The error handlers below do not see a path that the router can't parse.
    frameworkErrors: ({ statusCode = 400 }, _request, reply) =>
      void sendError(reply, statusCode, 'ERR_MALFORMED_REQUEST', malformedPath),
  })
  server.addHook('preClose', async () => {
    for (const one of servers) one.endConnections()
  })

  // Like Dapr, ignores the content type: every body is JSON.
  server.removeAllContentTypeParsers()
  server.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))

  server.addHook('onRequest', async (request, reply) => {
    const refusal = refusalOf(request, options)
    if (refusal !== undefined) return sendError(reply, 403, 'ERR_PERMISSION_DENIED', refusal)
    const isHealth = request.url.startsWith('/v1.0/healthz')
    if (token && !isHealth && !isSameText(String(request.headers['dapr-api-token'] ?? ''), token.reveal())) {
      return reply.code(401).send('invalid api token')
    }
  })

  server.route<{ Params: { name: string } }>({
    method: ['POST', 'PUT'],
    url: '/v1.0/bindings/:name',
    async handler(request, reply) {
      const { name } = request.params
      const body = parseInvoke(request.body)
      if ('fault' in body) return malformed(reply, body.fault)
      const { operation, data, metadata } = body
      // Dapr hands the caller's trace on to the component in the same way.
      const given = { ...metadata, ...readTraceContext(request.headers) }
      try {
        const answer = await whileAwaited(reply.raw, 'close', (signal) =>
          callOutput({ name, operation, data, metadata: given, signal }),
        )
        return sendJson(reply.headers(answerHeaders(answer.metadata)), '')
      } catch (error) {
        if (!(error instanceof OutputCallError)) throw error
        return sendError(reply, 500, 'ERR_INVOKE_OUTPUT_BINDING', error.message)
      }
    },
  })

  server.get('/v1.0/healthz', (request, reply) => {
    const waiting = notReady()
    if (waiting.length > 0) {
      return sendError(reply, 500, 'ERR_HEALTH_NOT_READY', `dapr is not ready: [${waiting.join(' ')}]`)
    }
    const asked = new URL(request.url, 'http://localhost').searchParams.get('appid')
    if (asked !== null && asked !== options.appId) {
      return sendError(reply, 500, 'ERR_HEALTH_APPID_NOT_MATCH', 'dapr app-id does not match')
    }
    return reply.code(204).send()
  })
  server.get('/v1.0/healthz/outbound', (_request, reply) =>
    notReady().includes('components')
      ? sendError(reply, 500, 'ERR_OUTBOUND_HEALTH_NOT_READY', 'dapr outbound is not ready')
      : reply.code(204).send(),
  )

  server.get('/v1.0/metadata', (_request, reply) => sendJson(reply, JSON.stringify(apiMetadata(options))))
  server.put<{ Params: { key: string } }>('/v1.0/metadata/:key', (request, reply) => {
    const { key } = request.params
    const value = String(request.body ?? '')
    if (extended.size >= maxExtendedKeys && !extended.has(key)) return malformed(reply, `over ${maxExtendedKeys} keys`)
    if (value.length > maxExtendedLength) return malformed(reply, `over ${maxExtendedLength} characters`)
    extended.set(key, value)
    return reply.code(204).send()
  })
  server.post('/v1.0/shutdown', (_request, reply) => {
    // On close, so that a caller that disconnects early shuts down as well.
    reply.raw.once('close', options.onShutdown)
    return reply.code(204).send()
  })

  server.setNotFoundHandler((request, reply) => {
    const asked = `${request.method} ${request.url.split('?', 1)[0]}`
    const text = `this host has no ${asked}: it speaks Dapr's bindings, health and metadata API; for more run daprd`
    return sendError(reply, 404, 'ERR_NOT_FOUND', text)
  })
  server.setErrorHandler((error: { statusCode?: number }, _request, reply) =>
    error.statusCode === 413
      ? malformed(reply, `the body is over ${bodyLimit} bytes`)
      : sendError(reply, error.statusCode ?? 500, 'ERR_INTERNAL', 'the request could not be handled'),
  )
  return server
}

/** A page in a browser on this machine must not publish, read or shut down. Undefined: no page makes this request. */
function refusalOf(request: FastifyRequest, { token, listeningOn }: BindingsApiOptions): string | undefined {
  if (isForeignFetch(request) || (request.headers.origin !== undefined && !isOwnOrigin(request))) {
    return 'requests of web pages are refused'
  }
  // No page knows the token, so with one the host may have any name.
  if (token || isOwnHost(request, listeningOn)) return undefined
  return 'the Host header does not name this machine: use localhost or an IP address, or set DAPR_API_TOKEN'
}

function sendError(reply: FastifyReply, status: number, errorCode: string, message: string): FastifyReply {
  return sendJson(reply.code(status), JSON.stringify({ errorCode, message }))
}

/** As bytes, or a charset would be added to the type, which Dapr does not name. */
const sendJson = (reply: FastifyReply, text: string) =>
  reply.header('content-type', 'application/json').send(Buffer.from(text))

const malformed = (reply: FastifyReply, why: string) =>
  sendError(reply, 400, 'ERR_MALFORMED_REQUEST', `failed deserializing HTTP body: ${why}`)

function parseInvoke(body: unknown): z.infer<typeof invokeRequest> | { readonly fault: string } {
  const text = Buffer.isBuffer(body) ? new TextDecoder().decode(body) : ''
  const value = readJson(text)
  if (value === undefined) return { fault: 'it is not JSON' }
  // Before they are checked one by one.
  const names = isRecord(value) && isRecord(value.metadata) ? Object.keys(value.metadata).length : 0
  if (names > maxMetadataNames) return { fault: tooManyNames }
  const parsed = invokeRequest.safeParse(value)
  if (parsed.success) {
    const { data = null } = parsed.data
    // An object or array as it stands there: its numbers keep their digits.
    const isStructured = typeof data === 'object' && data !== null
    return { ...parsed.data, data: isStructured ? memberTexts(text).get('data') : data }
  }
  const [issue] = parsed.error.issues
  return { fault: issue ? [issue.path.join('.'), issue.message].filter(Boolean).join(': ') : 'it has another form' }
}

/** As Dapr does: `metadata.` and the name. A value that is too long for a header is left out. */
function answerHeaders(metadata: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const headers = Object.entries(metadata).flatMap(([name, value]) => {
    // A header holds ASCII only. In JSON an escape means the same as its character; other values are ASCII already.
    const ascii = value?.replace(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    return ascii === undefined || ascii.length > maxHeaderLength ? [] : [[`metadata.${name}`, ascii] as const]
  })
  return Object.fromEntries(headers)
}

/** The answer of the metadata API, with the names that it has over HTTP. */
export function apiMetadata({ running, appId, app, version, extended }: ApiOptions) {
  const runtimeVersion = `eventgrid-binding ${version}`
  return {
    ...(appId !== '' && { id: appId }),
    runtimeVersion,
    components: running.components().map(({ loaded: { component } }) => {
      const { name, type, version, sides } = component
      return { name, type, version, capabilities: sides.map((side) => `${side.toUpperCase()}_BINDING`) }
    }),
    extended: { ...Object.fromEntries(extended), daprRuntimeVersion: runtimeVersion },
    appConnectionProperties: app ? connectionTo(app) : {},
    actorRuntime: { runtimeStatus: 'DISABLED', hostReady: false },
  }
}

function connectionTo({ address: channelAddress, port, maxConcurrency, protocol = 'http' }: AppAddress) {
  return { port, protocol, channelAddress, maxConcurrency }
}
