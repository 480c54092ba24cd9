/** One request to a topic, by the SDK's client and with our own body, and what became of it. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { Agent, type IncomingMessage, request as requestByHttp } from 'node:http'
import { request as requestByHttps } from 'node:https'
import {
  createHttpHeaders,
  type HttpClient,
  type PipelinePolicy,
  type PipelineResponse,
  RestError,
} from '@azure/core-rest-pipeline'
import { AzureKeyCredential, EventGridPublisherClient } from '@azure/eventgrid'
import { clientOptions } from '../azure/http.ts'
import { refuseUnusableProxy } from '../azure/proxy.ts'
import type { RenewableCredential } from '../azure/token-keeper.ts'
import { openConnections } from '../azure/trust.ts'
import type { Endpoints } from '../core/endpoints.ts'
import { querySecrets, scrub } from '../core/scrub.ts'
import { namespaceApiVersion } from '../core/versions.ts'
import { isNamespaceTopic } from '../metadata/fields/parse-endpoint.ts'
import type { EventSchema, OutputMetadata } from '../metadata/typed/metadata.ts'
import { isLoopback } from '../support/net/hosts.ts'
import type { SteadyClock } from '../support/time/clock.ts'
import { readAnswer, readNoAnswer, type TopicAnswer, unanswered } from './topic-answer.ts'
import type { WireEvent } from './wire-event.ts'

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
