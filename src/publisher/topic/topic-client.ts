/** One request to a topic, by the SDK's client and with our own body, and what became of it. */
import { Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import type { TokenCredential } from '@azure/core-auth'
import {
  isRestError,
  type PipelinePolicy,
  type PipelineRequest,
  type PipelineResponse,
} from '@azure/core-rest-pipeline'
import { AzureKeyCredential, EventGridPublisherClient } from '@azure/eventgrid'
import { createAnswerLimitPolicy } from '../../azure/answer-limit.ts'
import { certificateRemedy, silenceRemedy } from '../../azure/connection-fault.ts'
import { refuseUnusableProxy } from '../../azure/proxy.ts'
import { NoTokenError } from '../../azure/refusals/entra-refusal.ts'
import { createRefusedTokenPolicy } from '../../azure/refused-token.ts'
import { readRetryAfter } from '../../azure/retry-after.ts'
import { sentOnce } from '../../azure/send-once.ts'
import type { RenewableCredential } from '../../azure/token-keeper.ts'
import { secureContextOf, sendBy } from '../../azure/trust.ts'
import { namespaceApiVersion } from '../../core/api-versions.ts'
import type { Endpoints } from '../../core/endpoints.ts'
import { BindingError } from '../../core/errors.ts'
import { querySecrets, scrub } from '../../core/scrub.ts'
import { isNamespaceTopic } from '../../metadata/fields/parse-endpoint.ts'
import type { EventSchema, OutputMetadata } from '../../metadata/typed/metadata.ts'
import { isLoopback } from '../../support/net/loopback.ts'
import { cut } from '../../support/text/text.ts'
import type { SteadyClock } from '../../support/time/clock.ts'
import type { WireEvent } from '../payload/to-events.ts'
import { httpClient } from './http-client.ts'
import { isAcceptance, isForeign, type TopicAnswer } from './topic-answer.ts'

/** A client of one topic, on the Event Grid SDK. */
export interface TopicClient {
  /**
   * Sends events in one request. Never rejects: failures are answers too. Answers at once when `signal` aborts.
   *
   * @param onBegun called when an answer of 200 begins
   */
  send(
    schema: EventSchema,
    events: readonly WireEvent[],
    signal: AbortSignal,
    onBegun?: () => void,
  ): Promise<TopicAnswer>
  close(): void
}

export interface TopicClientOptions {
  readonly output: OutputMetadata
  /** For `topicAuthentication: entra`. Throws BindingError or NoTokenError. */
  readonly credential: RenewableCredential | undefined
  readonly endpoints: Endpoints
  readonly clock: SteadyClock
}

/** The most bytes of an answer that are read. Event Grid's errors have a few hundred. */
const maxAnswerBytes = 65_536

/** Characters of a page that an error shows. */
const maxShownPage = 200

/**
 * Content type by schema. Event Grid takes several CloudEvents only under the batch type (CloudEvents JSON event format, section 4).
 */
const contentTypes: Readonly<Record<EventSchema, string>> = {
  CloudEventSchemaV1_0: 'application/cloudevents-batch+json; charset=utf-8',
  EventGridSchema: 'application/json',
}

/** Where events are posted: a topic endpoint without a path gets `/api/events`, since the SDK posts to the URL as it is. */
export function publishUrl(topicEndpoint: string): URL {
  const url = new URL(topicEndpoint)
  if (url.pathname === '/') url.pathname = '/api/events'
  url.hash = ''
  return url
}

/**
 * A client of the topic over `EventGridPublisherClient`.
 *
 * The SDK authenticates and sends; content type and body are ours. Its `CloudEvent` schema would turn an array in
 * `data` into an object, refuse text, round `time` to milliseconds and invent `datacontenttype`; its `EventGrid`
 * schema would drop `metadataVersion` and round `eventTime`; and all would make JSON anew of events that are JSON.
 *
 * @throws BindingError METADATA_INVALID where the topic would be asked through a proxy of an unknown kind
 */
export function createTopicClient(options: TopicClientOptions): TopicClient {
  const { output, credential, endpoints, clock } = options
  const url = publishUrl(output.topicEndpoint)
  const isPlain = url.protocol === 'http:'
  if (!isPlain) refuseUnusableProxy(url.href)
  const secureContext = secureContextOf(endpoints)
  const agent = isPlain
    ? new HttpAgent({ keepAlive: true })
    : new HttpsAgent({ keepAlive: true, ...(secureContext && { secureContext }) })
  const connect = (request: PipelineRequest) => {
    // Plain http is for this machine only. A proxy would see the key.
    if (agent instanceof HttpsAgent) sendBy(request, agent, secureContext)
    else request.agent = agent
  }
  const keys = credentialOf(options)
  /**
   * Those that send nothing at the moment. Each sends one request at a time: what it sends, its policy knows. With one client for all, the
   * first to give up waiting for a token would fail the others: the SDK's client asks for it once, with the signal of whoever comes first.
   */
  const free: Sender[] = []
  const makeSender = (): Sender => {
    const wire: Wire = { schema: 'CloudEventSchemaV1_0', body: empty, status: undefined, onBegun: undefined }
    const policies = [
      ...(credential ? [createRefusedTokenPolicy(credential, output.environment.topicScope)] : []),
      wirePolicy(wire, connect),
      ...(isNamespaceTopic(url.href) ? [namespacePolicy(output)] : []),
      createAnswerLimitPolicy({ maxBytes: maxAnswerBytes, longer: 'cut' }),
      headPolicy(wire),
    ]
    const client = new EventGridPublisherClient(url.href, 'Custom', keys, {
      ...sentOnce,
      httpClient,
      allowInsecureConnection: isPlain && isLoopback(url.hostname),
      additionalPolicies: policies.map((policy) => ({ policy, position: 'perRetry' })),
    })
    return { wire, client }
  }
  const { authentication } = output
  const key = authentication.kind === 'accessKey' ? [authentication.accessKey.reveal()] : []
  const secrets = [...key, ...querySecrets(output.topicEndpoint)]
  const clean = (text: string) => scrub(text, secrets)
  async function sendBody(sender: Sender, given: Pick<Wire, 'schema' | 'body' | 'onBegun'>, signal: AbortSignal) {
    Object.assign(sender.wire, given)
    try {
      return await sendOnce(sender, signal, { clock, clean })
    } finally {
      // Nobody needs it any more.
      sender.wire.body = empty
      free.push(sender)
    }
  }
  return {
    async send(schema, events, signal, onBegun) {
      const sender = free.pop() ?? makeSender()
      sender.wire.status = undefined
      const late = new Promise<TopicAnswer>((resolve) => {
        const give = () => resolve(unanswered(sender.wire.status, 'no answer in time'))
        if (signal.aborted) give()
        else signal.addEventListener('abort', give, { once: true })
      })
      // A token that is still asked for does not hold up the answer.
      return Promise.race([sendBody(sender, { schema, body: bodyOf(events), onBegun }, signal), late])
    },
    close: () => agent.destroy(),
  }
}

async function sendOnce(
  { client, wire }: Sender,
  signal: AbortSignal,
  { clock, clean }: { clock: SteadyClock; clean: (text: string) => string },
): Promise<TopicAnswer> {
  let response: PipelineResponse | undefined
  const onResponse = (heard: PipelineResponse) => {
    response = heard
  }
  // No events: the policy puts the body in. What the SDK thinks of the answer is no matter: it takes a page for a success.
  const error: unknown = await client.send([], { abortSignal: signal, onResponse }).then(
    () => undefined,
    (reason: unknown) => reason,
  )
  return response
    ? readAnswer(response, { error, clean, now: clock.now() })
    : readFailure(error, { client, status: wire.status, clean })
}

interface Reading {
  readonly error: unknown
  readonly clean: (text: string) => string
  readonly now: number
}

function readAnswer({ status, headers, bodyAsText }: PipelineResponse, { error, clean, now }: Reading): TopicAnswer {
  const body = bodyAsText ?? ''
  const contentType = headers.get('content-type') ?? ''
  const requestId = cut(clean(headers.get('x-ms-request-id') ?? ''), 200) || undefined
  const heard = { status, body, contentType, requestId }
  if (isAcceptance(heard)) return { kind: 'accepted', requestId }
  const message =
    status === 200 ? cut(clean(body), maxShownPage) : error instanceof Error ? clean(messageIn(error)) : ''
  const retryAfterMs = readRetryAfter((name) => headers.get(name), now)
  return { kind: 'answered', status, message, requestId, retryAfterMs, isForeign: isForeign(heard) }
}

function readFailure(
  error: unknown,
  { client, status, clean }: Pick<Sender, 'client'> & { status: number | undefined; clean: (text: string) => string },
): TopicAnswer {
  const noToken = readTokenFailure(error)
  if (noToken) return noToken
  const code = isRestError(error) ? error.code : undefined
  const said = error instanceof Error ? clean(error.message) || error.name : 'unknown'
  const reason = code && !said.includes(code) ? `${code} ${said}` : said
  if (status !== undefined) return unanswered(status, reason)
  const noSuchHost = code === 'ENOTFOUND'
  const lasting = certificateRemedy(code, client.endpointUrl)
  return {
    kind: 'unreachable',
    reason,
    fix: noSuchHost ? noSuchHostRemedy : (lasting ?? silenceRemedy(code, client.endpointUrl)),
    permanent: !isRestError(error) || lasting !== undefined,
    noSuchHost,
  }
}

/** @param status that of an answer that began */
const unanswered = (status: number | undefined, reason: string): TopicAnswer =>
  status === undefined ? { kind: 'unreachable', reason, permanent: false } : { kind: 'unfinished', status, reason }

/** A proxy of the environment is looked up in place of the topic. */
const noSuchHostRemedy = 'check the host name of topicEndpoint, and that of a proxy (HTTPS_PROXY)'

/** Event Grid's message in an error of the SDK; the body itself where it is no JSON. */
function messageIn(error: Error): string {
  return isRestError(error) && error.code === 'PARSE_ERROR' ? (error.response?.bodyAsText ?? '') : error.message
}

/** Events as a JSON array, written as bytes: joined texts would be copied twice. */
function bodyOf(events: readonly WireEvent[]): Buffer {
  if (events.length === 0) return Buffer.from('[]')
  // A bracket or a comma before each, and the last bracket.
  const body = Buffer.allocUnsafe(events.reduce((sum, { bytes }) => sum + bytes + 1, 1))
  let end = 0
  for (const { json } of events) {
    body[end] = end === 0 ? 0x5b : 0x2c
    end += 1 + body.write(json, end + 1)
  }
  body[end] = 0x5d
  return body
}

const empty = Buffer.alloc(0)

/** What a request has in place of what the SDK would write, and what of its answer the SDK does not tell. */
interface Wire {
  schema: EventSchema
  body: Buffer
  /** Of an answer that has begun, and not ended. */
  status: number | undefined
  onBegun: (() => void) | undefined
}

interface Sender {
  readonly wire: Wire
  readonly client: EventGridPublisherClient<'Custom'>
}

function wirePolicy(wire: Wire, connect: (request: PipelineRequest) => void): PipelinePolicy {
  return {
    name: 'eventgridBindingWirePolicy',
    async sendRequest(request, next) {
      request.body = wire.body
      request.headers.set('content-type', contentTypes[wire.schema])
      connect(request)
      const response = await next(request)
      wire.status = undefined
      return response
    },
  }
}

/** Tells that an answer begins. It comes last: the body is read by the policy before. */
function headPolicy(wire: Wire): PipelinePolicy {
  return {
    name: 'eventgridBindingHeadPolicy',
    async sendRequest(request, next) {
      const response = await next(request)
      wire.status = response.status
      if (response.status === 200) wire.onBegun?.()
      return response
    },
  }
}

/** A namespace topic wants its own version of the API, and the key in another header (Event Grid namespaces, data plane). */
function namespacePolicy({ authentication }: OutputMetadata): PipelinePolicy {
  return {
    name: 'eventgridBindingNamespacePolicy',
    sendRequest(request, next) {
      const url = new URL(request.url)
      url.searchParams.set('api-version', namespaceApiVersion)
      request.url = url.href
      request.headers.delete('aeg-sas-key')
      if (authentication.kind === 'accessKey') {
        request.headers.set('authorization', `SharedAccessKey ${authentication.accessKey.reveal()}`)
      }
      return next(request)
    },
  }
}

function credentialOf({ output, credential }: TopicClientOptions): AzureKeyCredential | TokenCredential {
  const { authentication, environment } = output
  if (authentication.kind === 'accessKey') return new AzureKeyCredential(authentication.accessKey.reveal())
  // The SDK always asks for the public cloud's scope.
  return { getToken: async (_scopes, options) => (await credential?.getToken(environment.topicScope, options)) ?? null }
}

/** The failure of a credential: Entra refused the client, or could not be asked. */
function readTokenFailure(error: unknown): TopicAnswer | undefined {
  if (error instanceof NoTokenError) {
    const { message: reason, fix, retryAfterMs } = error
    return { kind: 'no-token', reason, fix, permanent: fix !== undefined, retryAfterMs }
  }
  if (error instanceof BindingError) {
    return { kind: 'no-token', reason: error.what, fix: error.fix, permanent: true, retryAfterMs: undefined }
  }
  return undefined
}
