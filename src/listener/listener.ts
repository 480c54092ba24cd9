import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Endpoints } from '../core/endpoints.ts'
import type { EventHandler } from '../core/event.ts'
import type { LogFields, Logger } from '../core/logger.ts'
import { createQuietLog, printable } from '../core/quiet-log.ts'
import type { InputMetadata } from '../metadata/metadata.ts'
import { nodeTimers, type Timers } from '../support/timers.ts'
import { type Concern, concerns, harmless } from './concerns.ts'
import { type Connection, createConnections } from './connections.ts'
import { readDelivery } from './delivery.ts'
import { createDispatcher } from './dispatch.ts'
import { eventMetadata } from './event-metadata.ts'
import { createExamine, type ListenerAuthentication } from './examine.ts'
import { createGate, type GateDecision, isValidation, tooLarge } from './gate.ts'
import { answerValidation } from './handshake.ts'
import { listen } from './listen.ts'
import { otherSender } from './other-sender.ts'
import { createPathCheck } from './paths.ts'
import { type Answer, answerWith, problemAnswer } from './problem.ts'
import { createBodyReader } from './read-body.ts'
import { declaredLength } from './representation.ts'
import { createServer, type ServerLimits, serverDefaults } from './server.ts'

export interface ListenerOptions {
  readonly input: InputMetadata
  readonly authentication: ListenerAuthentication
  /** `authorityHost` is where Entra's signing keys are fetched, `ca` what is trusted for that. */
  readonly endpoints: Endpoints
  readonly logger: Logger
  /** The handler of the moment; without one deliveries are answered 503. */
  readonly handler: () => EventHandler | undefined
  /** What the answer to OPTIONS without origin says. Anybody may read it, so it holds no detail that a stranger must not know. */
  readonly health: () => unknown
  /** A delivery that names our event subscription came without a credential or with an unknown key id. Called for each of them. */
  readonly onForeignDelivery?: () => void
  /** When our own write of the event subscription stood (epoch milliseconds), if it has. */
  readonly subscriptionWrittenAt: () => number | undefined
  /** Epoch milliseconds. @default Date.now, and for what is only measured a clock that nobody sets */
  readonly now?: () => number
  /** @default Node's */
  readonly timers?: Timers
  /** Bounds of the server, narrowed. @default serverDefaults */
  readonly limits?: Partial<ServerLimits>
  /** Longest wait for Entra's signing keys, in milliseconds. @default 5_000 */
  readonly keySetTimeoutMs?: number
}

/** What the listener knows of itself. */
export interface ListenerStatus {
  readonly draining: boolean
  /** Handler calls under way. */
  readonly running: number
  /** Bodies that wait for a handler call. */
  readonly waiting: number
  /** Deliveries, that is what was posted and was no handshake, by the status of the answer. */
  readonly answered: Readonly<Record<string, number>>
  /** Deliveries that seem ours and carry no credential we know; the last one came at `lastAt` (epoch milliseconds). */
  readonly foreign: { readonly count: number; readonly lastAt: number } | undefined
}

/** Serves the subscriber endpoint (specification, section 4.1). */
export interface Listener {
  readonly address: AddressInfo
  status(): ListenerStatus
  /** Takes nothing new (503) and waits for what is being handled, `handlerTimeout` at the longest. */
  drain(): Promise<void>
  /** Frees the port, whatever still runs. */
  close(): Promise<void>
}

/** Starts to listen on `handshakePort`. Throws PORT_UNAVAILABLE. */
export async function createListener(options: ListenerOptions): Promise<Listener> {
  const { input, logger, handler, health, subscriptionWrittenAt, now = Date.now, timers = nodeTimers } = options
  const elapsed = options.now ?? (() => performance.now())
  const log = createQuietLog({ logger, now: elapsed })
  // With subjects of its own: a handler that fails on every event takes none from the warnings about other senders.
  const ofHandler = createQuietLog({ logger, now: elapsed })
  const dispatcher = createDispatcher({ ...input, handler, log: ofHandler, now: elapsed, timers })
  const closing = new AbortController()
  let draining = false
  const answered = new Map<number, number>()
  let foreign: ListenerStatus['foreign']

  if (options.authentication.kind === 'none') {
    logger.warn('deliveryAuthentication is none: anybody who reaches the subscriber endpoint can deliver events')
  }

  const gate = createGate({
    isOurPath: createPathCheck(input.subscriberEndpoint),
    allowedOrigin: input.environment.eventGridOrigin,
    eventSubscriptionName: input.eventSubscriptionName,
    maxRequestBytes: input.maxRequestBytes,
    examine: await createExamine({ ...options, log, closing: closing.signal, now, elapsed }),
    draining: () => draining,
    hasHandler: () => handler() !== undefined,
    health,
    subscriptionWrittenAt,
    now,
  })

  const limits: ServerLimits = {
    ...serverDefaults,
    maxConnections: Math.max(1_024, 4 * input.maxConcurrency),
    maxUnfinishedBytes: Math.max(67_108_864, 4 * input.maxRequestBytes),
    ...options.limits,
  }
  const readBody = createBodyReader(limits.maxUnfinishedBytes)
  const { maxConnections } = limits
  const connections = createConnections(maxConnections, () =>
    log.warn('there are too many connections, so the oldest that proved nothing are ended', { maxConnections }),
  )

  function write(response: ServerResponse, { status, headers, body }: Answer, rest?: 'unread'): void {
    if (response.writableEnded) return
    const { req: request } = response
    const isDelivery = request.method === 'POST' && !isValidation(request.headers)
    if (isDelivery) answered.set(status, (answered.get(status) ?? 0) + 1)
    connections.of(request.socket)?.end(request)
    // Otherwise Node would read the rest of the body, to be ready for the next request.
    const isLeft = rest === 'unread' && (declaredLength(request.headers) ?? Number.POSITIVE_INFINITY) > cheapBodyBytes
    // What was sent at once behind such a request is lost in Node: the next answer would be taken for the one to that.
    const isUpgrade = request.headers.upgrade !== undefined
    if (isLeft || isUpgrade) response.setHeader('connection', 'close')
    response.writeHead(status, headers).end(body)
  }

  function raise(concern: Concern, fields: LogFields, about?: string): void {
    log[harmless.has(concern) ? 'info' : 'warn'](concerns[concern], fields, about)
    if (concern !== 'foreign') return
    foreign = { count: (foreign?.count ?? 0) + 1, lastAt: now() }
    options.onForeignDelivery?.()
  }

  function refuse(response: ServerResponse, answer: Answer, concern: Concern): void {
    const { 'webhook-request-origin': origin, 'aeg-subscription-name': name } = response.req.headers
    const sender = concern === 'otherSender' ? otherSender(String(name), input.scope) : undefined
    raise(
      concern,
      {
        status: answer.status,
        ...(concern === 'otherOrigin' && typeof origin === 'string' && { origin: printable(origin) }),
        ...sender,
      },
      sender?.eventSubscription,
    )
    write(response, answer, 'unread')
  }

  function receive(decision: GateDecision & { kind: 'read' }, arrivedAt: number, response: ServerResponse): void {
    const { headers } = response.req
    if (headers.expect !== undefined) response.writeContinue()
    readBody(response.req, decision.limit, (body) => {
      if (body === 'cutOff') return void response.destroy()
      if (body === 'tooLarge') return refuse(response, tooLarge(decision.limit), 'unreadable')
      if (body === 'noRoom') return refuse(response, problemAnswer(503, 'Too much is on its way at once.'), 'noRoom')
      if (decision.as === 'validation') {
        const answer = answerValidation(body)
        if (answer.status === 400) return refuse(response, answer, 'unreadable')
        return write(response, answer)
      }
      const reading = readDelivery(body)
      if ('problem' in reading) {
        log.warn('a delivery could not be read', { reason: reading.problem })
        return write(response, problemAnswer(400, reading.problem))
      }
      dispatcher.dispatch({
        members: reading.members,
        metadata: eventMetadata(headers),
        bytes: body.length,
        arrivedAt,
        redelivered: isRedelivery(headers),
        answer({ status, detail }) {
          const reachable = !response.destroyed
          write(response, status === 200 ? acknowledged : problemAnswer(status, detail))
          return reachable
        },
      })
    })
  }

  function follow(
    decision: GateDecision,
    arrivedAt: number,
    response: ServerResponse,
    connection: Connection | undefined,
  ): void {
    if (decision.kind === 'read') {
      if (decision.as === 'delivery') connection?.trust()
      receive(decision, arrivedAt, response)
    } else if (decision.concern) refuse(response, decision.answer, decision.concern)
    else write(response, decision.answer, 'unread')
  }

  function fail(error: unknown, response: ServerResponse): void {
    logger.error('a request failed in the listener', { error: error instanceof Error ? error.name : typeof error })
    write(response, problemAnswer(500, 'The request failed.'), 'unread')
  }

  function onRequest(request: IncomingMessage, response: ServerResponse): void {
    const arrivedAt = elapsed()
    const { socket, method = '', url: target = '', httpVersionMajor: version, headers } = request
    const connection = connections.of(socket)
    connection?.begin(request)
    try {
      const decision = gate({ method, version, target, headers })
      if (decision instanceof Promise) {
        decision
          .then((settled) => follow(settled, arrivedAt, response, connection))
          .catch((error) => fail(error, response))
      } else follow(decision, arrivedAt, response, connection)
    } catch (error) {
      fail(error, response)
    }
  }

  const create = () =>
    createServer({
      ...{ limits, connections, onRequest },
      onBroken: (status) => log.info('a connection was ended: what it brought is no request', { status }),
    })
  const listening = await listen({
    ...{ create, host: input.listenAddress, port: input.handshakePort },
    onRefused: (code) => log.warn('a connection could not be accepted', { code }),
  })

  return {
    address: listening.address,
    status: () => ({
      draining,
      running: dispatcher.running,
      waiting: dispatcher.waiting,
      answered: Object.fromEntries(answered),
      foreign,
    }),
    async drain() {
      draining = true
      dispatcher.stop()
      listening.closeIdleConnections()
      const { promise: timeIsUp, resolve } = Promise.withResolvers<void>()
      const timer = timers.setTimeout(resolve, input.handlerTimeoutMs, undefined)
      await Promise.race([dispatcher.idle(), timeIsUp])
      timer[Symbol.dispose]()
    },
    async close() {
      draining = true
      dispatcher.stop()
      closing.abort()
      await listening.close()
    },
  }
}

const acknowledged = answerWith(200, {})

/** Bytes of a body that nobody wants, below which reading them is cheaper than a new connection. */
const cheapBodyBytes = 65_536

function isRedelivery(headers: IncomingHttpHeaders): boolean {
  return Number(headers['aeg-delivery-count']) > 0
}
