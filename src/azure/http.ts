/**
 * How each request to Azure goes: the connection, the trusted certificates, the bound of the answer, and the pause that an answer asks for.
 */

import { Agent as HttpAgent } from 'node:http'
import { Agent } from 'node:https'
import { Readable } from 'node:stream'
// Imported as a whole: an older Node has no getCACertificates, and must get as far as the error that says it is too old.
import tls, { type SecureContext } from 'node:tls'
import {
  createDefaultHttpClient,
  createEmptyPipeline,
  logPolicy,
  type Pipeline,
  type PipelinePolicy,
  type PipelineRequest,
  type PipelineResponse,
  proxyPolicy,
  RestError,
  setClientRequestIdPolicy,
  userAgentPolicy,
} from '@azure/core-rest-pipeline'
import type { Endpoints } from '../core/endpoints.ts'
import { keepNewest } from '../support/work/work.ts'
import { isBypassed, refuseUnusableProxy } from './proxy.ts'
import type { RenewableCredential } from './token-keeper.ts'

/** The policies of a request: one each for connection, token and bound. */
export interface RequestOptions {
  /** How requests connect, also through a proxy: `createTrustPolicy`, or the policy of `openConnections`. */
  readonly connect: PipelinePolicy
  /** The keeper of the token, which is renewed where Azure refuses the token. */
  readonly entra?: { readonly credential: RenewableCredential; readonly scope: string } | undefined
  /** How much of an answer is read. @default the caller reads the answer */
  readonly answerLimit?: AnswerLimit
}

const userAgent = { userAgentPrefix: 'eventgrid-binding' }

/** The options of a client of the SDKs. Callers try again themselves, and a redirect would carry the credential elsewhere. */
export const clientOptions = (options: RequestOptions) => ({
  retryOptions: { maxRetries: 0 },
  redirectOptions: { maxRetries: 0 },
  userAgentOptions: userAgent,
  additionalPolicies: policiesOf(options).map((policy) => ({ policy, position: 'perRetry' as const })),
})

/**
 * The pipeline of a request to a data plane: the policies of the SDK that add something to the request, and ours. No policy tries again,
 * follows a redirect or decompresses.
 *
 * @param more further policies, which see the request last
 */
export function createPipeline(options: RequestOptions, more: readonly PipelinePolicy[] = []): Pipeline {
  const pipeline = createEmptyPipeline()
  for (const policy of [proxyPolicy(), userAgentPolicy(userAgent), setClientRequestIdPolicy()])
    pipeline.addPolicy(policy)
  for (const policy of [...policiesOf(options), logPolicy(), ...more])
    pipeline.addPolicy(policy, { afterPhase: 'Sign' })
  return pipeline
}

/** Sends a request that no client of the SDKs sends. */
export function createSendOnce(options: RequestOptions) {
  const client = createDefaultHttpClient()
  const pipeline = createPipeline(options)
  return (request: PipelineRequest): Promise<PipelineResponse> => pipeline.sendRequest(client, request)
}

/** In their order after the choice of a proxy. */
const policiesOf = ({ connect, entra, answerLimit }: RequestOptions): readonly PipelinePolicy[] => [
  ...(entra ? [createRefusedTokenPolicy(entra.credential, entra.scope)] : []),
  connect,
  ...(answerLimit ? [createAnswerLimitPolicy(answerLimit)] : []),
]

/**
 * A policy that drops a refused token and sends the request once more with a new token. Add it for each retry (`perRetry`): there it
 * sees the request after the SDK has added the first token, and the answer before the SDK has turned the answer into an error.
 */
export function createRefusedTokenPolicy(credential: RenewableCredential, scope: string): PipelinePolicy {
  return {
    name: 'eventgrid-binding-refused-token',
    async sendRequest(request, next) {
      const response = await next(request)
      const [, refused] = /^Bearer (.+)$/.exec(request.headers.get('authorization') ?? '') ?? []
      if (response.status !== 401 || refused === undefined || !credential.renew(refused)) return response
      // An answer that nobody reads would keep its connection.
      const { readableStreamBody: unread } = response
      if (unread) await readBounded(unread, { maxBytes: maxAnswerBytes, longer: 'cut' })
      const { abortSignal } = request
      const token = await credential.getToken(scope, abortSignal && { abortSignal })
      request.headers.set('authorization', `Bearer ${token.token}`)
      return next(request)
    },
  }
}

/** The most bytes of an answer of ARM or Entra that are read. Theirs have a few thousand. */
export const maxAnswerBytes = 1_048_576

/** How {@link createAnswerLimitPolicy} treats a long answer. */
interface AnswerLimit {
  readonly maxBytes: number
  /** `fail` rejects the request; `cut` keeps the first `maxBytes`. Both end the connection. */
  readonly longer: 'fail' | 'cut'
}

/** A pipeline policy that bounds the body of each answer. Add it last: the policies before it read `bodyAsText` as usual. */
export function createAnswerLimitPolicy(limit: AnswerLimit): PipelinePolicy {
  return {
    name: 'eventgrid-binding-answer-limit',
    async sendRequest(request, next) {
      // The bound is on bytes as they arrive. The SDK's decompression hides them, and hangs when the connection breaks.
      request.headers.delete('accept-encoding')
      request.streamResponseStatusCodes = allStatusCodes
      const response = await next(request)
      request.streamResponseStatusCodes = noStatusCodes
      const { readableStreamBody, ...rest } = response
      try {
        const body = readableStreamBody && (await readBounded(readableStreamBody, limit))
        return { ...rest, bodyAsText: body?.toString() ?? '' }
      } catch (error) {
        throw request.abortSignal?.aborted ? new DOMException('the request was aborted', 'AbortError') : error
      }
    },
  }
}

/** Makes the pipeline hand out the body of every answer as a stream. */
const allStatusCodes = new Set([Number.POSITIVE_INFINITY])
const noStatusCodes = new Set<number>()

/**
 * Reads the body of an answer. Uses listeners: the iterator of a stream costs more than the rest of a small answer.
 *
 * @throws RestError where the connection breaks, or where a longer body fails
 */
export function readBounded(stream: NodeJS.ReadableStream, { maxBytes, longer }: AnswerLimit): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    const finish = () => {
      // `close` is emitted after a normal end too, and creating an error is slow.
      stream.off('close', broken)
      resolve(Buffer.concat(chunks, Math.min(size, maxBytes)))
    }
    const fail = (message: string, code: string) => reject(new RestError(message, { code }))
    // The SDK reports a connection that breaks before the answer in the same way.
    const broken = () => fail('the connection broke in the middle of the answer', 'ECONNRESET')
    stream.on('data', (chunk: Buffer) => {
      chunks.push(chunk)
      size += chunk.length
      if (size <= maxBytes) return
      if (longer === 'cut') finish()
      else fail(`the answer has more than ${maxBytes} bytes`, 'ANSWER_TOO_LONG')
      // Ends the connection too.
      if (stream instanceof Readable) stream.destroy()
    })
    stream.on('end', finish)
    stream.on('error', broken)
    stream.on('close', broken)
  })
}

/** A process needs one; a test needs one for each emulator. */
const maxTrusts = 8
const trusts = new Map<string, { readonly secureContext: SecureContext; readonly agent: Agent }>()

/**
 * The policy that makes a client trust `endpoints.ca`, also through a proxy, and go past the proxy where NO_PROXY says so. Connections are
 * shared by all clients with the same `ca`.
 */
export function createTrustPolicy(endpoints: Endpoints): PipelinePolicy {
  return {
    name: 'eventgrid-binding-trust',
    sendRequest(request, next) {
      route(request, endpoints)
      return next(request)
    },
  }
}

/** The same by connections of a client's own, which the client closes. `isPlain`: by http, for this machine only. */
export function openConnections(endpoints: Endpoints, { isPlain = false } = {}) {
  const secureContext = secureContextOf(endpoints)
  const agent = isPlain
    ? new HttpAgent({ keepAlive: true })
    : new Agent({ keepAlive: true, ...(secureContext && { secureContext }) })
  const policy: PipelinePolicy = {
    name: 'eventgrid-binding-connections',
    sendRequest(request, next) {
      sendBy(request, agent, secureContext)
      return next(request)
    },
  }
  return { policy, close: () => agent.destroy() }
}

/** Sends a request past the proxy where it has to go past, and by the agent that trusts `endpoints.ca`. */
export function route(request: PipelineRequest, endpoints: Endpoints): void {
  const trust = trustOf(endpoints)
  // A managed identity is asked over plain http.
  if (trust && request.url.startsWith('https:')) sendBy(request, trust.agent, trust.secureContext)
  else passProxy(request)
}

/** Takes the agent of a proxy away from a request that has to go past it. */
function passProxy(request: PipelineRequest): void {
  if (!request.agent) return
  if (isBypassed(request.url)) delete request.agent
  else refuseUnusableProxy(request.url)
}

/**
 * Sends a request by our agent. Behind a proxy of the environment the request has an agent already, which ignores the
 * SDK's `tlsOptions`: then the request itself says what to trust.
 */
function sendBy(request: PipelineRequest, agent: HttpAgent, secureContext: SecureContext | undefined): void {
  passProxy(request)
  if (!request.agent) request.agent = agent
  else if (secureContext) request.requestOverrides = { ...request.requestOverrides, secureContext }
}

/**
 * The TLS context that trusts `endpoints.ca` beside Node's own certificates; `undefined` where Node's own will do. Kept,
 * because parsing all those certificates takes 13 ms, and an agent that is given them as `ca` parses them for each
 * connection and joins them to a text for each request.
 */
export const secureContextOf = (endpoints: Endpoints): SecureContext | undefined => trustOf(endpoints)?.secureContext

function trustOf({ ca }: Endpoints) {
  if (ca === undefined) return undefined
  const known = trusts.get(ca)
  if (known) return known
  // `ca` replaces Node's own certificates, so these are passed again.
  const secureContext = tls.createSecureContext({ ca: [...tls.getCACertificates('default'), ca] })
  const trust = { secureContext, agent: new Agent({ keepAlive: true, secureContext }) }
  keepNewest(trusts, ca, trust, maxTrusts)
  return trust
}

/**
 * The pause that an answer of Azure asks for, in milliseconds: `retry-after-ms`, `x-ms-retry-after-ms`, or `Retry-After`
 * in seconds or as an HTTP date (RFC 9110, 10.2.3). A past date gives 0; `undefined` where no pause is
 * asked for, or the header is not readable.
 *
 * @param header gives a header of the answer by its name in lower case
 * @param now in milliseconds since 1970
 */
export function readRetryAfter(header: (name: string) => string | undefined, now: number): number | undefined {
  for (const name of ['retry-after-ms', 'x-ms-retry-after-ms']) {
    const ms = header(name)?.trim() ?? ''
    if (/^\d{1,10}$/.test(ms)) return Number(ms)
  }
  const after = header('retry-after')?.trim() ?? ''
  if (/^\d{1,9}$/.test(after)) return Number(after) * 1_000
  // Date.parse accepts almost any text, even "-1".
  const date = /^[A-Z][a-z]{2,8},? /.test(after) ? Date.parse(after) : Number.NaN
  return Number.isNaN(date) ? undefined : Math.max(0, date - now)
}

/** Azure's id of a request: a UUID. A header of another form may be anything, also a secret that something on the way has put there. */
export function readRequestId(header: string | undefined): string | undefined {
  return header !== undefined && /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i.test(header) ? header : undefined
}
