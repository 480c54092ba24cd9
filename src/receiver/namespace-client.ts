/** The HTTP calls of pull delivery: receive, settle and renew, each with a bound of time and of bytes. */
import { createHttpHeaders, createPipelineRequest, type PipelineResponse } from '@azure/core-rest-pipeline'
import { createSendOnce, openConnections, readBounded, readRetryAfter } from '../azure/http.ts'
import { readErrorBody } from '../azure/read-failure.ts'
import { NoTokenError } from '../azure/refusals/entra-refusal.ts'
import { explainNoAnswer } from '../azure/refusals/remedies.ts'
import type { RenewableCredential } from '../azure/token-keeper.ts'
import type { Endpoints } from '../core/endpoints.ts'
import { BindingError } from '../core/errors.ts'
import { scrub } from '../core/scrub.ts'
import type { Secret } from '../core/secret.ts'
import { readTraceContext, type TraceContext } from '../core/telemetry.ts'
import { namespaceApiVersion } from '../core/versions.ts'
import { isRecord, readJson, sliceMemberOfItems } from '../support/text/json-text.ts'
import { oneLine } from '../support/text/text.ts'
import { withLimit } from '../support/time/clock.ts'

/** Event Grid hands out at most so many events in one receive. */
export const maxEventsPerReceive = 100

/** An event that was received and is locked. */
export interface LockedEvent {
  /** The event's own bytes, as they stand in the answer. */
  readonly bytes: Buffer
  /** What the bytes hold, parsed. */
  readonly value: unknown
  readonly lockToken: string
  /** From 1. */
  readonly deliveryCount: number
  /** The trace context that the event brings. */
  readonly origin: TraceContext | undefined
}

/** A failed request: what the namespace answered, or that the namespace could not be asked. */
export interface RequestFailure {
  /** Absent where there was no answer. */
  readonly status?: number
  readonly reason: string
  /** The remedy, where more is known than the status says. */
  readonly fix?: string | undefined
  readonly retryAfterMs?: number | undefined
  /** The answer has no error code of Event Grid: a proxy or another server may have answered. */
  readonly isForeign?: boolean
  /** Entra gave no token. */
  readonly noToken?: boolean
  /** No later request can succeed either: Entra refuses the client, say. */
  readonly refusal?: BindingError
}

export type ReceiveAnswer = { readonly events: readonly LockedEvent[] } | { readonly failure: RequestFailure }

/** `failed`: the lock tokens that could not be settled, each with the reason. */
export type SettleAnswer = { readonly failed: ReadonlyMap<string, string> } | { readonly failure: RequestFailure }

/** What is done with locked events. */
export type SettleOperation = 'acknowledge' | 'release' | 'reject' | 'renewLock'

export interface SettleRequest {
  readonly operation: SettleOperation
  readonly lockTokens: readonly string[]
  /** Trace contexts in which the events were made, as far as they bring one. */
  readonly origins?: readonly TraceContext[]
  readonly delaySeconds?: number
  readonly signal: AbortSignal
}

/** One Queue event subscription, over its namespace's data plane. No method rejects. */
export interface NamespaceClient {
  /** Waits for events, as long as `maxWaitSeconds` (10 to 120). */
  receive(ask: { maxEvents: number; maxWaitSeconds: number; signal: AbortSignal }): Promise<ReceiveAnswer>
  settle(request: SettleRequest): Promise<SettleAnswer>
  close(): void
}

/** What {@link createNamespaceClient} needs. */
export interface NamespaceClientOptions {
  /** Base URL of the namespace, https. */
  readonly namespaceEndpoint: string
  readonly topicName: string
  readonly eventSubscriptionName: string
  /** The access key, or what gives Entra's tokens. */
  readonly authentication:
    | { readonly kind: 'key'; readonly key: Secret }
    | { readonly kind: 'entra'; readonly credential: RenewableCredential; readonly scope: string }
  readonly endpoints: Endpoints
}

interface NamespaceRequest {
  readonly query: Readonly<Record<string, string>>
  /** Events that the answer may hold. @default 0 */
  readonly maxEvents?: number
  /** JSON. */
  readonly body?: string
  readonly timeoutMs: number
  readonly signal: AbortSignal
}

/** An event of the largest size, and what is around it in an answer. An answer without events is shorter. */
const maxEventBytes = 1_100_000
const settleTimeoutMs = 20_000
/** Makes the pipeline hand out the body of every answer as a stream. */
const allStatusCodes = new Set([Number.POSITIVE_INFINITY])

/**
 * A client of the data plane (Event Grid namespaces). Our own, because @azure/eventgrid-namespaces 1.0.0 loses extension
 * attributes, falsy data and `data_base64`.
 */
export function createNamespaceClient(options: NamespaceClientOptions): NamespaceClient {
  const { authentication, endpoints, topicName, eventSubscriptionName } = options
  const base = `${options.namespaceEndpoint.replace(/(?<!\/)\/+$/, '')}/topics/${topicName}/eventsubscriptions/${eventSubscriptionName}`
  const connections = openConnections(endpoints)
  const entra = authentication.kind === 'entra' ? authentication : undefined
  const sendOnce = createSendOnce({ connect: connections.policy, entra })

  async function authorization(signal: AbortSignal): Promise<string> {
    if (authentication.kind === 'key') return `SharedAccessKey ${authentication.key.reveal()}`
    const token = await authentication.credential.getToken(authentication.scope, { abortSignal: signal })
    return `Bearer ${token.token}`
  }

  const secrets = authentication.kind === 'key' ? [authentication.key.reveal()] : []
  /** A text from outside. A proxy may answer with the headers of the request. */
  const shown = (text: string) => scrub(text, secrets)

  async function send(operation: string, { query, maxEvents = 0, body }: NamespaceRequest, signal: AbortSignal) {
    const request = createPipelineRequest({
      url: `${base}:${operation}?${new URLSearchParams({ ...query, 'api-version': namespaceApiVersion })}`,
      method: 'POST',
      headers: createHttpHeaders({ accept: 'application/json', authorization: await authorization(signal) }),
      abortSignal: signal,
      streamResponseStatusCodes: allStatusCodes,
    })
    if (body !== undefined) {
      request.headers.set('content-type', 'application/json')
      request.body = body
    }
    const response = await sendOnce(request)
    const stream = response.readableStreamBody
    const maxBytes = (maxEvents + 1) * maxEventBytes
    return { response, received: stream ? await readBounded(stream, { maxBytes, longer: 'fail' }) : Buffer.alloc(0) }
  }

  async function post<Answer>(
    operation: SettleOperation | 'receive',
    request: NamespaceRequest,
    read: (answer: Buffer) => Answer | undefined,
  ): Promise<Answer | { readonly failure: RequestFailure }> {
    const { timeoutMs: ms, signal } = request
    try {
      return await withLimit({ ms, signal }, async (limit) => {
        const { response, received } = await send(operation, request, limit)
        if (response.status !== 200) return { failure: readRefusal(response, received.toString(), shown) }
        return read(received) ?? { failure: { status: 200, reason: `the answer to ${operation} is not readable` } }
      })
    } catch (error) {
      return { failure: readError(error, options.namespaceEndpoint, shown) }
    }
  }

  return {
    receive({ maxEvents, maxWaitSeconds, signal }) {
      const query = { maxEvents: String(maxEvents), maxWaitTime: String(maxWaitSeconds) }
      // Event Grid answers by then; a connection that broke in silence must not keep the receive for ever.
      const timeoutMs = (maxWaitSeconds + 10) * 1000
      return post('receive', { query, maxEvents, timeoutMs, signal }, readReceived)
    },
    settle({ operation, lockTokens, delaySeconds = 0, signal }) {
      const query: Record<string, string> = delaySeconds > 0 ? { releaseDelayInSeconds: String(delaySeconds) } : {}
      const body = JSON.stringify({ lockTokens })
      const read = (answer: Buffer) => readFailedTokens(answer, lockTokens, shown)
      return post(operation, { query, body, timeoutMs: settleTimeoutMs, signal }, read)
    },
    close: connections.close,
  }
}

/** The events of an answer, each with its exact bytes of the answer; `undefined` where the answer has another form. */
function readReceived(bytes: Buffer): { readonly events: readonly LockedEvent[] } | undefined {
  const parsed = readJson(bytes.toString())
  const values = isRecord(parsed) ? parsed.value : undefined
  if (!Array.isArray(values)) return undefined
  if (values.length === 0) return { events: [] }
  const slices = sliceMemberOfItems(bytes, 'value', 'event')
  if (slices?.length !== values.length || slices.length > maxEventsPerReceive) return undefined
  const events = slices.flatMap(({ start, end }, index): LockedEvent[] => {
    const item: unknown = values[index]
    const broker = isRecord(item) ? item.brokerProperties : undefined
    if (!isRecord(item) || !isRecord(broker) || typeof broker.lockToken !== 'string') return []
    const deliveryCount = typeof broker.deliveryCount === 'number' ? broker.deliveryCount : 1
    // A copy: a view would keep the whole answer in memory for as long as one event is handled.
    const own = Buffer.allocUnsafe(end - start)
    bytes.copy(own, 0, start, end)
    const { event: value } = item
    const origin = isRecord(value) ? readTraceContext(value) : undefined
    return [{ bytes: own, value, lockToken: broker.lockToken, deliveryCount, origin }]
  })
  return events.length === values.length ? { events } : undefined
}

/** In place of the namespace's code: its answer names the token neither as settled nor as failed. */
export const unconfirmed = 'Unconfirmed'

/** `undefined` where the answer has another form, or names none of the tokens: a proxy may have answered, and nothing was settled. */
function readFailedTokens(
  bytes: Buffer,
  lockTokens: readonly string[],
  shown: (text: string) => string,
): { readonly failed: ReadonlyMap<string, string> } | undefined {
  const parsed = readJson(bytes.toString())
  if (!isRecord(parsed)) return undefined
  const { failedLockTokens, succeededLockTokens } = parsed
  const succeeded = new Set<unknown>(Array.isArray(succeededLockTokens) ? succeededLockTokens : [])
  const failed = new Map<string, string>()
  for (const { lockToken, error } of Array.isArray(failedLockTokens) ? failedLockTokens.filter(isRecord) : []) {
    const code = isRecord(error) && typeof error.code === 'string' ? oneLine(shown(error.code), 60) : 'unknown'
    if (typeof lockToken === 'string') failed.set(lockToken, code)
  }
  if (!lockTokens.some((token) => succeeded.has(token) || failed.has(token))) return undefined
  for (const token of lockTokens) if (!succeeded.has(token) && !failed.has(token)) failed.set(token, unconfirmed)
  return { failed }
}

function readRefusal(
  { status, headers }: PipelineResponse,
  body: string,
  shown: (text: string) => string,
): RequestFailure {
  const { code, message } = readErrorBody(body)
  const words = [code, message].filter(Boolean).join(' ')
  return {
    status,
    reason: [`status ${status}`, shown(words)].filter(Boolean).join(': '),
    isForeign: code === undefined,
    retryAfterMs: readRetryAfter((name) => headers.get(name), Date.now()),
  }
}

function readError(error: unknown, namespaceEndpoint: string, shown: (text: string) => string): RequestFailure {
  if (error instanceof NoTokenError) {
    const { message: reason, fix, retryAfterMs } = error
    return { reason, noToken: true, fix, retryAfterMs }
  }
  if (error instanceof BindingError) return { reason: error.message, noToken: true, refusal: error }
  const { reason, fix } = explainNoAnswer(error, namespaceEndpoint, shown)
  return { reason, fix }
}

/**
 * Asks for 0 events. Event Grid checks credential and names first, and then answers 400 because 0 is not allowed: 400 means that receiving
 * works. Resolves with what is in the way of receiving.
 */
export async function probeReceive(client: NamespaceClient, signal: AbortSignal): Promise<RequestFailure | undefined> {
  const answer = await client.receive({ maxEvents: 0, maxWaitSeconds: 10, signal })
  const lockTokens = 'events' in answer ? answer.events.map(({ lockToken }) => lockToken) : []
  if (lockTokens.length > 0) await client.settle({ operation: 'release', lockTokens, signal })
  return whatRefuses(answer)
}

/**
 * The failure that a probe shows; `undefined` where requests work. 400 of Event Grid means that they work: credential and names are
 * checked first.
 */
export function whatRefuses(answer: ReceiveAnswer | SettleAnswer): RequestFailure | undefined {
  if (!('failure' in answer)) return undefined
  const { failure } = answer
  return failure.status === 400 && !failure.isForeign ? undefined : failure
}
