/** What is recorded of each request that the emulator answers, and which injected fault answers in its place. */
import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { pause } from '../../../../src/support/time/clock.ts'
import type { Clock } from '../model/time/clock.ts'
import type { PublishSummary, ReceiveSummary, Records, RequestRecord } from '../records/record-types.ts'
import { shownHeaders, shownPath } from '../records/shown-request.ts'
import type { Fault, Faults } from './faults.ts'
import type { Refusal } from './unreadable-request.ts'

export interface RequestOutcome {
  code?: string
  clientId?: string
  /** What the answer says of the error. */
  message?: string
  publish?: PublishSummary
  receive?: ReceiveSummary
  /** What the record shows of the body; set once the caller's credential is accepted. Without it no part of the body is recorded. */
  body?: unknown
}

declare module 'fastify' {
  interface FastifyRequest {
    outcome: RequestOutcome
  }
}

export interface RecordingOptions {
  readonly clock: Clock
  readonly faults: Faults
  readonly records: Pick<Records, 'requests'>
  /** Counts refused publishes. */
  readonly figures?: { add(name: 'refused'): void }
}

/**
 * Records the requests of a Fastify scope, and applies the injected faults to them.
 * `refuse` makes the body of a fault's answer, in the words of the emulated service.
 */
export function recordRequests(
  scope: FastifyInstance,
  route: RequestRecord['route'],
  { clock, faults, records, figures }: RecordingOptions,
  refuse: (fault: Fault & { status: number }, request: FastifyRequest) => unknown,
): void {
  scope.addHook('onRequest', async (request, reply) => {
    const fault = faults.take(route, { method: request.method, url: request.url })
    if (!fault) return
    const { delayMs, drop, status } = fault
    const { takenBack } = faults
    const gone = delayMs ? await waited(request, delayMs, clock, takenBack) : false
    // Taken back while it delayed the call: the real answer follows.
    if (takenBack.aborted && !gone) return
    if (gone || drop) {
      reply.hijack()
      request.raw.socket.destroy()
      record(request, 0)
      return reply
    }
    if (status === undefined) return
    if (fault.code) request.outcome.code = fault.code
    if (fault.message) request.outcome.message = fault.message
    if (fault.retryAfter !== undefined) reply.header('retry-after', String(fault.retryAfter))
    return reply.code(status).send(refuse({ ...fault, status }, request))
  })
  // Before the answer is sent: a client that has its answer finds the record.
  scope.addHook('onSend', async (request, reply, payload) => {
    if (!recorded.has(request)) record(request, reply.statusCode)
    return payload
  })

  // If sending a reply fails, Fastify sends an error in its place.
  const recorded = new WeakSet<FastifyRequest>()

  function record(request: FastifyRequest, status: number): void {
    recorded.add(request)
    const { outcome } = request
    if (status >= 400 && outcome.publish && !outcome.publish.isCheck) figures?.add('refused')
    records.requests.push({
      at: clock.now(),
      route,
      method: request.method,
      url: shownPath(request.url),
      headers: shownHeaders(request.headers),
      status,
      ...outcome,
      requestId: request.id,
    })
  }
}

/** Records a request to a path that nothing serves over http. A POST counts as a refused publish to that path. */
export function recordRefused(
  options: Omit<RecordingOptions, 'faults'>,
  request: IncomingMessage,
  refusal: Refusal,
): void {
  const { method = '', url = '' } = request
  const [path = ''] = shownPath(url).split('?')
  const isPublish = method === 'POST'
  recordRaw(options, 'topic', request, { ...refusal, ...(isPublish && { publish: { topic: path } }) })
}

/** Records a request that no route of Fastify answers. */
export function recordRaw(
  { clock, records, figures }: Omit<RecordingOptions, 'faults'>,
  route: RequestRecord['route'],
  { method = '', url = '', headers }: IncomingMessage,
  outcome: Pick<RequestRecord, 'status'> & Partial<Pick<RequestRecord, 'code' | 'message' | 'publish'>>,
): void {
  if (outcome.status >= 400 && outcome.publish) figures?.add('refused')
  records.requests.push({
    at: clock.now(),
    route,
    method,
    url: shownPath(url),
    headers: shownHeaders(headers),
    ...outcome,
    requestId: randomUUID(),
  })
}

/** Waits by the clock, or until the fault is taken back; true if the client disconnected meanwhile. */
async function waited(
  { raw: { socket } }: FastifyRequest,
  ms: number,
  clock: Clock,
  takenBack: AbortSignal,
): Promise<boolean> {
  const gone = new AbortController()
  const leave = () => gone.abort()
  socket.once('close', leave)
  await pause(clock, ms, AbortSignal.any([gone.signal, takenBack]))
  socket.off('close', leave)
  return gone.signal.aborted
}
