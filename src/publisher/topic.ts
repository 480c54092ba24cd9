/** One request to a topic, by the SDK's client and with our own body, and what became of it. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { Agent, type IncomingMessage, request as requestByHttp } from 'node:http'
import { request as requestByHttps } from 'node:https'
import {
  createHttpHeaders,
  type HttpClient,
  isRestError,
  type PipelinePolicy,
  type PipelineResponse,
  RestError,
} from '@azure/core-rest-pipeline'
import { AzureKeyCredential, EventGridPublisherClient } from '@azure/eventgrid'
import { clientOptions, openConnections, readRequestId, readRetryAfter, refuseUnusableProxy } from '../azure/http.ts'
import { NoTokenError } from '../azure/refusals/entra-refusal.ts'
import { certificateRemedy, silenceRemedy } from '../azure/refusals/remedies.ts'
import type { RenewableCredential } from '../azure/token-keeper.ts'
import type { Endpoints } from '../core/endpoints.ts'
import { BindingError } from '../core/errors.ts'
import { querySecrets, scrub } from '../core/scrub.ts'
import { namespaceApiVersion } from '../core/versions.ts'
import { isNamespaceTopic } from '../metadata/fields/addresses.ts'
import type { EventSchema, OutputMetadata } from '../metadata/typed/metadata.ts'
import { isLoopback } from '../support/net/hosts.ts'
import { isRecord, readJson } from '../support/text/json-text.ts'
import { cut } from '../support/text/text.ts'
import type { SteadyClock } from '../support/time/clock.ts'
import type { WireEvent } from './events.ts'

export type TopicClient = ReturnType<typeof createTopicClient>

export interface TopicClientOptions {
  readonly output: OutputMetadata
  /** For `topicAuthentication: entra`. Throws BindingError or NoTokenError. */
  readonly credential: RenewableCredential | undefined
  readonly endpoints: Endpoints
  readonly clock: SteadyClock
}

/** A request that was sent. */
export interface SentRequest {
  /** Never rejects: failures are answers too. Comes at once when the signal of the request aborts. */
  readonly answer: Promise<TopicAnswer>
  /** The status of an answer that has begun; `undefined` before that, and once the answer has ended. */
  begun(): number | undefined
}

/** The most bytes of an answer that are read. Event Grid's errors have a few hundred. */
const maxAnswerBytes = 65_536

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
  return url
}

/**
 * A client of the topic over `EventGridPublisherClient`.
 *
 * The SDK authenticates and sends; content type and body are ours. Its `CloudEvent` schema would turn an array in
 * `data` into an object, refuse text, round `time` to milliseconds and invent `datacontenttype`; its `EventGrid`
 * schema would drop `metadataVersion` and round `eventTime`; and all would make JSON anew of events that are JSON.
 * So it is asked to send no events, and a policy puts the body in.
 *
 * @throws BindingError METADATA_INVALID where the topic would be asked through a proxy of an unknown kind
 */
export function createTopicClient({ output, credential, endpoints, clock }: TopicClientOptions) {
  const { authentication, environment, topicEndpoint } = output
  const { href, protocol, hostname } = publishUrl(topicEndpoint)
  const isPlain = protocol === 'http:'
  if (!isPlain) refuseUnusableProxy(href)
  const connections = openConnections(endpoints, { isPlain })
  const closing = new AbortController()
  const key = authentication.kind === 'accessKey' ? authentication.accessKey.reveal() : undefined
  // The SDK asks for the public cloud's scope, and once for all requests that wait: the first to give up must not end it for the others.
  const getToken = async () =>
    (await credential?.getToken(environment.topicScope, { abortSignal: closing.signal })) ?? null
  const entra = credential && { credential, scope: environment.topicScope }
  const policies = isNamespaceTopic(href) ? [createNamespacePolicy(key)] : []
  const answerLimit = { maxBytes: maxAnswerBytes, longer: 'cut' } as const
  const client = new EventGridPublisherClient(
    href,
    'Custom',
    key === undefined ? { getToken } : new AzureKeyCredential(key),
    {
      ...clientOptions({ connect: connections.policy, entra, answerLimit }, policies),
      httpClient,
      allowInsecureConnection: isPlain && isLoopback(hostname),
    },
  )
  const secrets = [...(key === undefined ? [] : [key]), ...querySecrets(topicEndpoint)]
  const clean = (text: string) => scrub(text, secrets)

  async function publish(sending: Sending, schema: EventSchema, abortSignal: AbortSignal): Promise<TopicAnswer> {
    const customHeaders = { 'content-type': contentTypes[schema] }
    let response: PipelineResponse | undefined
    let error: unknown
    const onResponse = (heard: PipelineResponse) => {
      response = heard
    }
    try {
      await sendings.run(sending, () => client.send([], { abortSignal, requestOptions: { customHeaders }, onResponse }))
    } catch (reason) {
      // What the SDK thinks of an answer is no matter: it takes a page for a success.
      error = reason
    }
    return response ? readAnswer(response, error, clean, clock.now()) : readNoAnswer(error, sending.begun, href, clean)
  }

  return {
    /** Sends events in one request, which ends when `signal` aborts. */
    send(schema: EventSchema, events: readonly WireEvent[], signal: AbortSignal): SentRequest {
      const sending: Sending = { body: bodyOf(events), begun: undefined }
      const ending = new AbortController()
      const late = new Promise<TopicAnswer>((resolve) => {
        const give = () => {
          ending.abort()
          resolve(unanswered(sending.begun, 'no answer in time'))
        }
        if (signal.aborted) give()
        else signal.addEventListener('abort', give, { once: true })
      })
      // A token that is still asked for does not hold up the answer.
      return { answer: Promise.race([publish(sending, schema, ending.signal), late]), begun: () => sending.begun }
    },
    close() {
      closing.abort()
      connections.close()
    },
  }
}

/** Events as a JSON array, written as bytes: joined texts would be copied twice. */
function bodyOf(events: readonly WireEvent[]): Buffer {
  // `check` asks a topic by an empty list.
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

/** A request under way: what it sends, and the status of an answer that has begun and not ended. */
interface Sending {
  readonly body: Buffer
  begun: number | undefined
}

/** Each request finds what it sends here: the SDK has no way to hand it on. */
const sendings = new AsyncLocalStorage<Sending>()

/** A namespace topic wants its own version of the API, and the key in another header (Event Grid namespaces, data plane). */
function createNamespacePolicy(key: string | undefined): PipelinePolicy {
  return {
    name: 'eventgrid-binding-namespace-topic',
    sendRequest(request, next) {
      const url = new URL(request.url)
      url.searchParams.set('api-version', namespaceApiVersion)
      request.url = url.href
      request.headers.delete('aeg-sas-key')
      if (key !== undefined) request.headers.set('authorization', `SharedAccessKey ${key}`)
      return next(request)
    },
  }
}

/**
 * Sends the body of {@link Sending} in place of the SDK's; each answer has its body as a stream. The SDK's own client would never notice an
 * answer of 101.
 */
const httpClient: HttpClient = {
  sendRequest(request) {
    const { url, method, headers, agent, abortSignal, requestOverrides } = request
    const isPlain = !url.startsWith('https:')
    return new Promise<PipelineResponse>((resolve, reject) => {
      const sending = sendings.getStore()
      if (!sending) throw new Error('a request that nobody made')
      if (isPlain && !request.allowInsecureConnection) throw new Error('plain http is for loopback addresses only')
      const outgoing = (isPlain ? requestByHttp : requestByHttps)(url, {
        method,
        headers: headers.toJSON(),
        ...(agent instanceof Agent && { agent }),
        ...(abortSignal instanceof AbortSignal && { signal: abortSignal }),
        ...requestOverrides,
      })
      const answer = (incoming: IncomingMessage) => {
        sending.begun = incoming.statusCode
        incoming.once('end', () => {
          sending.begun = undefined
        })
        const given = Object.entries(incoming.headers).map(([name, value]) => [name, String(value)])
        const answered = createHttpHeaders(Object.fromEntries(given))
        resolve({ request, status: incoming.statusCode ?? 0, headers: answered, readableStreamBody: incoming })
      }
      outgoing.on('response', answer)
      outgoing.on('upgrade', (incoming, socket) => {
        answer(incoming)
        socket.destroy()
      })
      outgoing.on('error', ({ message, code = RestError.REQUEST_SEND_ERROR }: NodeJS.ErrnoException) =>
        reject(new RestError(message, { code, request })),
      )
      outgoing.end(sending.body)
    })
  },
}

/** How one request to the topic ended. Its texts hold no query, no key and no control characters. */
export type TopicAnswer =
  | { readonly kind: 'accepted'; readonly requestId: string | undefined }
  | {
      readonly kind: 'answered'
      readonly status: number
      /** Event Grid's message, shortened; empty where it gave none. */
      readonly message: string
      readonly requestId: string | undefined
      readonly retryAfterMs: number | undefined
      /** Nothing of it shows that it is Event Grid's: it may be of a proxy or another server. */
      readonly isForeign: boolean
    }
  /** An answer began, and its body did not come to its end. The events may have been published. */
  | { readonly kind: 'unfinished'; readonly status: number; readonly reason: string }
  /** No answer: the connection failed or timed out. The events may have been published. */
  | {
      readonly kind: 'unreachable'
      readonly reason: string
      readonly fix?: string | undefined
      readonly permanent: boolean
      /** The host name does not exist in DNS. */
      readonly noSuchHost?: boolean
      /** No connection came about, so the topic has not got the events. */
      readonly notSent?: boolean
    }
  /** There was no token to send. */
  | {
      readonly kind: 'no-token'
      readonly reason: string
      /** What to do about it, where the credential said so. */
      readonly fix: string | undefined
      readonly permanent: boolean
      readonly retryAfterMs: number | undefined
    }

/** How a request ended whose events were not accepted. */
export type FailedRequest = Exclude<TopicAnswer, { kind: 'accepted' }>

/** Characters of a page that an error shows. */
const maxShownPage = 200

/**
 * What an answer means. Event Grid accepts with 200 and an empty body, a namespace with `{}`. Any other text is believed with Event Grid's
 * id of the request alone; a page and an error are not, for the login page of Entra has such an id too.
 *
 * @param error with which the SDK has refused it
 */
export function readAnswer(
  { status, headers, bodyAsText }: PipelineResponse,
  error: unknown,
  clean: (text: string) => string,
  now: number,
): TopicAnswer {
  const body = bodyAsText ?? ''
  const id = headers.get('x-ms-request-id')
  const requestId = readRequestId(id)
  const said = readJson(body)
  const saysNothing = body === '' || (isRecord(said) && Object.keys(said).length === 0)
  const isPage = /^\s*</.test(body) || (body !== '' && /html/i.test(headers.get('content-type') ?? ''))
  // Event Grid's form of an error.
  const isError = isRecord(said) && Object.hasOwn(said, 'error')
  const isBelieved = saysNothing || (Boolean(id) && !isPage && !isError)
  if (status === 200 && isBelieved) return { kind: 'accepted', requestId }
  const message =
    status === 200 ? cut(clean(body), maxShownPage) : error instanceof Error ? clean(messageIn(error)) : ''
  const retryAfterMs = readRetryAfter((name) => headers.get(name), now)
  const isForeign = isPage || (!id && !isError)
  return { kind: 'answered', status, message, requestId, retryAfterMs, isForeign }
}

/** @param status that of an answer that began, and did not end */
export function readNoAnswer(
  error: unknown,
  status: number | undefined,
  url: string,
  clean: (text: string) => string,
): TopicAnswer {
  const noToken = readTokenFailure(error)
  if (noToken) return noToken
  const code = isRestError(error) ? error.code : undefined
  const said = error instanceof Error ? clean(error.message) || error.name : 'unknown'
  const reason = code && !said.includes(code) ? `${code} ${said}` : said
  if (status !== undefined) return unanswered(status, reason)
  const noSuchHost = code === 'ENOTFOUND'
  const lasting = certificateRemedy(code, url)
  return {
    kind: 'unreachable',
    reason,
    fix: noSuchHost ? noSuchHostRemedy : (lasting ?? silenceRemedy(code, url)),
    permanent: !isRestError(error) || lasting !== undefined,
    noSuchHost,
    notSent: isBeforeRequest(code, said),
  }
}

/** Codes of a connection that did not come about. Node gives a connection that ends in the TLS handshake no code of its own. */
const isBeforeRequest = (code: string | undefined, said: string): boolean =>
  /^(ENOTFOUND|EAI_\w+|ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|EPROTO|ERR_SSL_\w+|ERR_TLS_\w+)$/.test(code ?? '') ||
  certificateRemedy(code) !== undefined ||
  said.includes('before secure TLS connection was established')

/** @param status that of an answer that began */
export const unanswered = (status: number | undefined, reason: string): TopicAnswer =>
  status === undefined ? { kind: 'unreachable', reason, permanent: false } : { kind: 'unfinished', status, reason }

/** A proxy of the environment is looked up in place of the topic. */
const noSuchHostRemedy = 'check the host name of topicEndpoint, and that of a proxy (HTTPS_PROXY)'

/** Event Grid's message in an error of the SDK; the body itself where it is no JSON. */
function messageIn(error: Error): string {
  return isRestError(error) && error.code === 'PARSE_ERROR' ? (error.response?.bodyAsText ?? '') : error.message
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
