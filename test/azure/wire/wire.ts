/** One request on the wire and its answer, with no model of an SDK between: what was sent and seen is what a report shows. */
import {
  createDefaultHttpClient,
  createHttpHeaders,
  createPipelineFromOptions,
  createPipelineRequest,
  type HttpMethods,
} from '@azure/core-rest-pipeline'
import { createAnswerLimitPolicy, createTrustPolicy, maxAnswerBytes } from '../../../src/azure/http.ts'
import { refuseUnusableProxy } from '../../../src/azure/proxy.ts'
import type { Endpoints } from '../../../src/core/endpoints.ts'
import { readJson } from '../../../src/support/text/json-text.ts'
import { systemClock, withLimit } from '../../../src/support/time/clock.ts'

/** Who is asked, as a record names it. */
export type Asked = 'arm' | 'topic' | 'namespace' | 'storage'

export interface WireRequest {
  readonly asked: Asked
  readonly method: HttpMethods
  readonly url: string
  /** Name of the topic, domain or namespace that is asked: in Azure it stands in the host. */
  readonly of?: string
  /** True: its credential is not the usual one, so that nobody can send it again from a record. */
  readonly otherCredential?: boolean
  /** '' leaves a header out that would be sent by default. */
  readonly headers?: Readonly<Record<string, string>>
  /** A text, or what is sent as JSON. */
  readonly body?: string | Uint8Array | object | undefined
  /** Longest wait for the answer, by the machine's clock. @default 60_000 */
  readonly limitMs?: number
  /** True: it asks how an operation goes. A record keeps the last one alone. */
  readonly polls?: boolean
}

export interface WireAnswer {
  readonly status: number
  /** By names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** The body's JSON, else its text; '' where there is none. */
  readonly body: unknown
}

export interface Exchange {
  readonly request: WireRequest
  readonly answer: WireAnswer
}

/** Sends a request. Rejects where no answer comes. */
export type Send = (request: WireRequest) => Promise<WireAnswer>

export interface WireOptions {
  readonly endpoints: Endpoints
  readonly signal: AbortSignal
}

/** Makes the sender of all requests. It tries nothing again: what Azure answers first is what a probe is about. */
export function createSend({ endpoints, signal }: WireOptions): Send {
  const pipeline = createPipelineFromOptions({
    retryOptions: { maxRetries: 0 },
    redirectOptions: { maxRetries: 0 },
    userAgentOptions: { userAgentPrefix: 'eventgrid-binding-test-azure' },
  })
  pipeline.addPolicy(createTrustPolicy(endpoints), { afterPhase: 'Retry' })
  pipeline.addPolicy(createAnswerLimitPolicy({ maxBytes: maxAnswerBytes, longer: 'cut' }), { afterPhase: 'Sign' })
  const client = createDefaultHttpClient()
  return ({ method, url, headers = {}, body, limitMs = 60_000 }) => {
    refuseUnusableProxy(url)
    return withLimit({ clock: systemClock, ms: limitMs, signal }, async (abortSignal) => {
      const request = createPipelineRequest({ url, method, abortSignal, allowInsecureConnection: true })
      // A connection that is kept may be closed by the other side in the moment of a request, and nothing is tried again here.
      request.headers = createHttpHeaders({ connection: 'close', ...headers })
      if (body !== undefined) {
        request.body = typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body)
        if (!request.headers.has('content-type')) request.headers.set('content-type', 'application/json')
      }
      for (const [name, value] of Object.entries(headers)) if (value === '') request.headers.delete(name)
      const { status, headers: answered, bodyAsText } = await pipeline.sendRequest(client, request)
      const text = bodyAsText ?? ''
      return { status, headers: answered.toJSON(), body: readJson(text) ?? text }
    })
  }
}

/** The same, and tells each exchange to somebody. */
export function observed(send: Send, saw: (exchange: Exchange) => void): Send {
  return async (request) => {
    const answer = await send(request)
    saw({ request, answer })
    return answer
  }
}
