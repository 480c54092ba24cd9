/** Dapr's HTTP API of `run`: its routes and its errors. */
import type { IncomingMessage } from 'node:http'
import { z } from 'zod'
import type { Secret } from '../../../core/secret.ts'
import { readTraceContext } from '../../../core/telemetry.ts'
import { noRoom } from '../../../listener/request.ts'
import { maxMetadataNames } from '../../../publisher/payload.ts'
import { type BrowserRequest, isForeignPage, isOwnHost } from '../../../support/net/hosts.ts'
import { isRecord, memberTexts, readJson } from '../../../support/text/json-text.ts'
import { isSameText } from '../../../support/text/text.ts'
import { tooManyNames, whileAwaited } from '../../shared/invoke.ts'
import { type CallOutput, OutputCallError } from '../call-output.ts'
import type { ComponentSet } from '../component-set.ts'
import { type ApiAnswer, type ApiServer, bodyOf, createApiServer } from './api-server.ts'

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

const bodyLimit = 4 * 1024 * 1024
/** Node's clients accept 16 KiB of headers. The ids of a large batch would not fit. */
const maxHeaderLength = 4_096
/** Longest name in a path: the name of a component, every character escaped. */
const maxNameLength = 3_072

const malformedPath = 'the path is too long, or a % in it does not begin an escaped character'

const invokeRequest = z.object({
  operation: z.string().nullish(),
  data: z.unknown().optional(),
  metadata: z.record(z.string(), z.string()).nullish(),
})

/** Dapr's HTTP API as far as bindings need it: bindings, health, metadata and shutdown. Does not listen yet. */
export function createBindingsApi(options: BindingsApiOptions): ApiServer {
  return createApiServer(async (request) => {
    try {
      return refuse(request, options) ?? (await answer(request, options))
    } catch {
      return failure(500, 'ERR_INTERNAL', 'the request could not be handled')
    }
  })
}

/** The refusal of a caller who may not ask; `undefined` for all others. */
function refuse({ headers, url = '' }: IncomingMessage, options: BindingsApiOptions): ApiAnswer | undefined {
  const refusal = refusalOf({ headers, protocol: 'http' }, options)
  if (refusal !== undefined) return failure(403, 'ERR_PERMISSION_DENIED', refusal)
  const { token } = options
  if (!token || url.startsWith('/v1.0/healthz')) return undefined
  if (isSameText(String(headers['dapr-api-token'] ?? ''), token.reveal())) return undefined
  return { status: 401, headers: { 'content-type': 'text/plain; charset=utf-8' }, body: 'invalid api token' }
}

/** A page in a browser on this machine must not publish, read or shut down. Undefined: no page makes this request. */
function refusalOf(request: BrowserRequest, { token, listeningOn }: BindingsApiOptions): string | undefined {
  if (isForeignPage(request)) return 'requests of web pages are refused'
  // No page knows the token, so with one the host may have any name.
  if (token || isOwnHost(request, listeningOn)) return undefined
  return 'the Host header does not name this machine: use localhost or an IP address, or set DAPR_API_TOKEN'
}

async function answer(request: IncomingMessage, options: BindingsApiOptions): Promise<ApiAnswer> {
  const { method, url = '' } = request
  const [path = '', query = ''] = url.split('?', 2)
  const [, escaped] = /^\/v1\.0\/bindings\/([^/]*)$/.exec(path) ?? []
  const name = decodeName(escaped ?? '')
  if (typeof name !== 'string') return name
  switch (`${method} ${escaped === undefined ? path : '/v1.0/bindings/*'}`) {
    case 'POST /v1.0/bindings/*':
    case 'PUT /v1.0/bindings/*':
      return invoke(name, request, options)
    case 'GET /v1.0/healthz':
      return health(new URLSearchParams(query).get('appid'), options)
    case 'GET /v1.0/healthz/outbound':
      return options.notReady().includes('components')
        ? failure(500, 'ERR_OUTBOUND_HEALTH_NOT_READY', 'dapr outbound is not ready')
        : done
    case 'GET /v1.0/metadata':
      return json(200, JSON.stringify(apiMetadata(options)))
    case 'POST /v1.0/shutdown':
      // The end of the process lets the answer out first.
      setImmediate(options.onShutdown)
      return done
    default: {
      const speaks = "it speaks Dapr's bindings and health API, and tells its metadata; for more run daprd"
      return failure(404, 'ERR_NOT_FOUND', `this host has no ${method} ${path}: ${speaks}`)
    }
  }
}

function decodeName(escaped: string): string | ApiAnswer {
  if (escaped.length > maxNameLength) return failure(414, 'ERR_MALFORMED_REQUEST', malformedPath)
  try {
    return decodeURIComponent(escaped)
  } catch {
    return failure(400, 'ERR_MALFORMED_REQUEST', malformedPath)
  }
}

async function invoke(name: string, request: IncomingMessage, { callOutput }: BindingsApiOptions): Promise<ApiAnswer> {
  // Like Dapr, ignores the content type: every body is JSON.
  const bytes = await bodyOf(request, bodyLimit)
  if (!Buffer.isBuffer(bytes)) return unread(bytes)
  const body = parseInvoke(bytes)
  if ('fault' in body) return malformed(body.fault)
  const { operation, data, metadata } = body
  // Dapr hands the caller's trace on to the component in the same way.
  const given = { ...metadata, ...readTraceContext(request.headers) }
  try {
    const answer = await whileAwaited(request.socket, 'close', (signal) =>
      callOutput({ name, operation, data, metadata: given, signal }),
    )
    return json(200, '', answerHeaders(answer.metadata))
  } catch (error) {
    if (!(error instanceof OutputCallError)) throw error
    return failure(500, 'ERR_INVOKE_OUTPUT_BINDING', error.message)
  }
}

function health(asked: string | null, { appId, notReady }: BindingsApiOptions): ApiAnswer {
  const waiting = notReady()
  if (waiting.length > 0) return failure(500, 'ERR_HEALTH_NOT_READY', `dapr is not ready: [${waiting.join(' ')}]`)
  if (asked === null || asked === appId) return done
  return failure(500, 'ERR_HEALTH_APPID_NOT_MATCH', 'dapr app-id does not match')
}

/** As with Dapr, the type has no charset. */
const json = (status: number, body: string, headers: ApiAnswer['headers'] = {}): ApiAnswer => ({
  status,
  headers: { ...headers, 'content-type': 'application/json' },
  body,
})

const done: ApiAnswer = { status: 204 }

const failure = (status: number, errorCode: string, message: string): ApiAnswer =>
  json(status, JSON.stringify({ errorCode, message }))

const malformed = (why: string): ApiAnswer =>
  failure(400, 'ERR_MALFORMED_REQUEST', `failed deserializing HTTP body: ${why}`)

/** The rest of the body is not read, so no further request can come on this connection. */
function unread(why: typeof noRoom | undefined): ApiAnswer {
  const answer =
    why === noRoom
      ? failure(503, 'ERR_OVERLOADED', 'too many requests whose bodies are not there yet: try again')
      : malformed(`the body is over ${bodyLimit} bytes`)
  return { ...answer, headers: { ...answer.headers, connection: 'close' } }
}

function parseInvoke(body: Buffer): z.infer<typeof invokeRequest> | { readonly fault: string } {
  const text = new TextDecoder().decode(body)
  const json = readJson(text)
  if (json === undefined) return { fault: 'it is not JSON' }
  const value = isRecord(json) ? Object.fromEntries(inLowerCase(Object.entries(json))) : json
  // Before they are checked one by one.
  const names = isRecord(value) && isRecord(value.metadata) ? Object.keys(value.metadata).length : 0
  if (names > maxMetadataNames) return { fault: tooManyNames }
  const parsed = invokeRequest.safeParse(value)
  if (parsed.success) {
    const { data = null } = parsed.data
    // An object or array stays unchanged: its numbers keep their digits.
    const isStructured = typeof data === 'object' && data !== null
    return { ...parsed.data, data: isStructured ? inLowerCase(memberTexts(text)).get('data') : data }
  }
  const [issue] = parsed.error.issues
  return { fault: issue ? [issue.path.join('.'), issue.message].filter(Boolean).join(': ') : 'it has another form' }
}

/** Members by their names in lower case: daprd takes these in any case. */
const inLowerCase = <T>(members: Iterable<readonly [name: string, member: T]>): ReadonlyMap<string, T> =>
  new Map([...members].map(([name, member]) => [name.toLowerCase(), member]))

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
export function apiMetadata({ running, appId, app, version }: ApiOptions) {
  const runtimeVersion = `eventgrid-binding ${version}`
  return {
    ...(appId !== '' && { id: appId }),
    runtimeVersion,
    components: running.components().map(({ loaded: { component } }) => {
      const { name, type, version, sides } = component
      return { name, type, version, capabilities: sides.map((side) => `${side.toUpperCase()}_BINDING`) }
    }),
    extended: { daprRuntimeVersion: runtimeVersion },
    appConnectionProperties: app ? connectionTo(app) : {},
    actorRuntime: { runtimeStatus: 'DISABLED', hostReady: false },
  }
}

function connectionTo({ address: channelAddress, port, maxConcurrency, protocol = 'http' }: AppAddress) {
  return { port, protocol, channelAddress, maxConcurrency }
}
