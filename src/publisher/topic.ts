/** One request to a topic, by the SDK's client and with our own body, and what its answer means. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { Agent, type ClientRequest, type IncomingMessage, request as requestByHttp } from 'node:http'
import { request as requestByHttps } from 'node:https'
import { urlToHttpOptions } from 'node:url'
import {
  createHttpHeaders,
  type HttpClient,
  type PipelinePolicy,
  type PipelineResponse,
  RestError,
} from '@azure/core-rest-pipeline'
import { AzureKeyCredential, EventGridPublisherClient } from '@azure/eventgrid'
import { createPipeline, openConnections, readBounded, readRequestId, readRetryAfter } from '../azure/http.ts'
import { refuseUnusableProxy } from '../azure/proxy.ts'
import type { RenewableCredential } from '../azure/token-keeper.ts'
import type { Endpoints } from '../core/endpoints.ts'
import { querySecrets, scrub } from '../core/scrub.ts'
import { namespaceApiVersion } from '../core/versions.ts'
import { isNamespaceTopic } from '../metadata/fields/addresses.ts'
import type { EventSchema, OutputMetadata } from '../metadata/typed/metadata.ts'
import { isLoopback } from '../support/net/hosts.ts'
import { isRecord, readJson } from '../support/text/json-text.ts'
import { cut } from '../support/text/text.ts'
import type { SteadyClock } from '../support/time/clock.ts'
import type { WireEvent } from './events.ts'
import { readNoAnswer, type TopicAnswer, tokenTooLate, unanswered } from './rejection.ts'

export type TopicClient = ReturnType<typeof createTopicClient>

export interface TopicClientOptions {
  readonly output: OutputMetadata
  /** For `topicAuthentication: entra`. Throws BindingError or NoTokenError. */
  readonly credential: RenewableCredential | undefined
  readonly endpoints: Endpoints
  readonly clock: SteadyClock
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
 * So the SDK is asked to send no events, and its HTTP client puts the body in.
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
  // The SDK would ask for the public cloud's scope. The SDK asks for one token for all waiting requests, so a request that gives up must
  // not end that question.
  const getToken = async () =>
    (await credential?.getToken(environment.topicScope, { abortSignal: closing.signal })) ?? null
  const entra = credential && { credential, scope: environment.topicScope }
  const policies = isNamespaceTopic(href) ? [createNamespacePolicy(key)] : []
  // `pipeline` is an option of the SDK's `ServiceClient`, to which this client hands all of them.
  const options = {
    pipeline: createPipeline({ connect: connections.policy, entra }, policies),
    httpClient: createSendingClient(),
    allowInsecureConnection: isPlain && isLoopback(hostname),
  }
  const keyOrToken = key === undefined ? { getToken } : new AzureKeyCredential(key)
  const client = new EventGridPublisherClient(href, 'Custom', keyOrToken, options)
  const secrets = [...(key === undefined ? [] : [key]), ...querySecrets(topicEndpoint)]
  const clean = (text: string) => scrub(text, secrets)
  /** Ends each request that is under way. */
  const open = new Set<() => void>()

  async function publish(sending: Sending): Promise<TopicAnswer> {
    let response: PipelineResponse | undefined
    const onResponse = (heard: PipelineResponse) => {
      response = heard
    }
    try {
      await sendings.run(sending, () => client.send([], { onResponse }))
      return response ? readAnswer(response, clean, clock.now()) : unanswered('no answer')
    } catch (error) {
      return readNoAnswer(error, href, clean)
    }
  }

  return {
    /** Sends events in one request, which ends after so many milliseconds at the latest, and by `close`. Never rejects. */
    send(schema: EventSchema, events: readonly WireEvent[], ms: number): Promise<TopicAnswer> {
      const contentType = contentTypes[schema]
      const sending: Sending = { body: bodyOf(events), contentType, outgoing: undefined, isOver: false }
      const { promise, resolve } = Promise.withResolvers<TopicAnswer>()
      const end = (answer: TopicAnswer) => {
        cancel()
        open.delete(giveUp)
        resolve(answer)
      }
      // A token that is still asked for does not hold up the answer.
      const giveUp = () => {
        sending.isOver = true
        end(credential && !sending.outgoing ? tokenTooLate : unanswered('no answer in time'))
        sending.outgoing?.destroy()
      }
      const cancel = clock.setTimer(ms, giveUp)
      open.add(giveUp)
      void publish(sending).then(end)
      return promise
    },
    /** Ends the requests that are under way, and the connections. */
    close() {
      closing.abort()
      for (const giveUp of open) giveUp()
      connections.close()
    },
  }
}

/**
 * Events as a JSON array. A single event is text, which Node sends in one write with the headers. Several are bytes: joined texts would be
 * copied twice.
 */
function bodyOf(events: readonly WireEvent[]): string | Buffer {
  // `check` asks a topic by an empty list.
  if (events.length < 2) return `[${events[0]?.json ?? ''}]`
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

/** A request under way. */
interface Sending {
  readonly body: string | Buffer
  readonly contentType: string
  outgoing: ClientRequest | undefined
  /** Nobody waits for the request any more: it is not sent. */
  isOver: boolean
}

/** Each request finds its body here: the SDK has no way to hand on a body. */
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
 * Sends the body of {@link Sending} in place of the SDK's, and reads the answer up to {@link maxAnswerBytes}. The SDK's own client would
 * never notice an answer of 101.
 */
function createSendingClient(): HttpClient {
  return {
    sendRequest(request) {
      const { url, method, headers, agent, requestOverrides } = request
      const isPlain = !url.startsWith('https:')
      return new Promise<PipelineResponse>((resolve, reject) => {
        const sending = sendings.getStore()
        if (!sending || sending.isOver) throw new Error('a request that nobody waits for')
        if (isPlain && !request.allowInsecureConnection) throw new Error('plain http is for loopback addresses only')
        headers.set('content-type', sending.contentType)
        const { hostname, port, path } = urlToHttpOptions(new URL(url))
        const outgoing = (isPlain ? requestByHttp : requestByHttps)({
          hostname,
          port,
          path,
          method,
          headers: headers.toJSON(),
          ...(agent instanceof Agent && { agent }),
          ...requestOverrides,
        })
        sending.outgoing = outgoing
        const answer = (incoming: IncomingMessage) => {
          const { statusCode: status = 0 } = incoming
          const read = (body: Buffer) =>
            resolve({ request, status, headers: headersOf(incoming), bodyAsText: body.toString() })
          readBounded(incoming, { maxBytes: maxAnswerBytes, longer: 'cut' }).then(read, reject)
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
}

function headersOf({ headers: given }: IncomingMessage) {
  const headers = createHttpHeaders()
  for (const name in given) headers.set(name, String(given[name]))
  return headers
}

/** Characters of a page that an error shows. */
const maxShownPage = 200

/**
 * What an answer means. Event Grid accepts with 200 and an empty body, a namespace with `{}`. A 200 with any other text counts only if it
 * has Event Grid's request id. An HTML page or an error never counts: Entra's login page has such an id too.
 */
export function readAnswer(
  { status, headers, bodyAsText }: PipelineResponse,
  clean: (text: string) => string,
  now: number,
): TopicAnswer {
  const body = bodyAsText ?? ''
  const id = headers.get('x-ms-request-id')
  const requestId = readRequestId(id)
  const said = readJson(body)
  const saysNothing = body === '' || (isRecord(said) && Object.keys(said).length === 0)
  const isPage = /^\s*</.test(body) || (body !== '' && /html/i.test(headers.get('content-type') ?? ''))
  const isError = isRecord(said) && Object.hasOwn(said, 'error')
  // Event Grid's form of an error. Others, such as Spring Boot, have a text there.
  const isErrorOfAzure = isRecord(said) && isRecord(said.error)
  const isBelieved = saysNothing || (Boolean(id) && !isPage && !isError)
  if (status === 200 && isBelieved) return { kind: 'accepted', requestId }
  const message = status === 200 ? cut(clean(body), maxShownPage) : clean(messageIn(said) ?? body)
  const retryAfterMs = readRetryAfter((name) => headers.get(name), now)
  const isForeign = isPage || (!id && !isErrorOfAzure)
  return { kind: 'answered', status, message, requestId, retryAfterMs, isForeign }
}

/** The message of an error in Event Grid's form, or beside no `error`. */
function messageIn(said: unknown): string | undefined {
  if (!isRecord(said)) return undefined
  const { message } = isRecord(said.error) ? said.error : said
  return typeof message === 'string' ? message : undefined
}
