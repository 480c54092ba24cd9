/** The routes of the listener: each request is decided on by its head, read, and its events are handed on. */
import { AsyncResource } from 'node:async_hooks'
import type { Socket } from 'node:net'
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import type { QuietLog } from '../core/logger.ts'
import type { Dispatcher } from '../dispatch/dispatcher.ts'
import { eventMetadata, readDelivery } from '../dispatch/events.ts'
import type { Room, Share } from '../dispatch/room.ts'
import { realTimers, type SteadyClock } from '../support/time/clock.ts'
import { inBackground } from '../support/work/work.ts'
import { decideByHead, type Gate, type GateDecision, type GateRefusal, tooLarge } from './admission.ts'
import type { Answers } from './answers.ts'
import { answerValidation, maxValidationBytes } from './handshake.ts'
import { declaredLength, defaultPath, overLimit, pathOf, problemAnswer, readBody, whenEnded } from './request.ts'

/** The delivery attributes that the event subscription declares. */
export interface DeclaredAttributes {
  /** In lower case. `undefined`: they are not known. */
  readonly attributes: readonly string[] | undefined
}

export interface RoutesOptions {
  readonly gate: Gate
  readonly answers: Answers
  readonly dispatcher: Dispatcher
  readonly log: QuietLog
  readonly declared: DeclaredAttributes
  /** For deliveries with proof. */
  readonly room: Room
  readonly clock: Omit<SteadyClock, 'now'>
  /** Called with the connection of each request that has proof. */
  readonly keepConnection: (socket: Socket) => void
}

/** The admission of a request whose body is read. */
type Admitted = { readonly kind: 'validation' } | AdmittedDelivery

interface AdmittedDelivery {
  readonly kind: 'delivery'
  /** Milliseconds of a monotonic clock, when the head was there. */
  readonly arrivedAt: number
  /** Milliseconds that the delivery has waited for room. */
  readonly waitedMs: number
  readonly share: Share
  /** The dispatcher has the body, and releases the share. Before the body is handed over the end of the request releases the share. */
  isHandedOver: boolean
}

/**
 * The routes of the listener as a Fastify plugin. Do not wrap the plugin by fastify-plugin: encapsulated, its parsers and its error handler
 * touch nothing of the host.
 */
export function createRoutes(options: RoutesOptions): FastifyPluginAsync {
  const { gate, answers, dispatcher, log, declared, room, clock, keepConnection } = options

  function decide(request: FastifyRequest, reply: FastifyReply, proceed: () => void): void {
    const arrivedAt = clock.elapsed()
    // A hook of the host may have replaced the headers.
    const { raw, headers } = request
    const follow = (decision: GateDecision) => {
      const isUnproven = decision.kind === 'answer' ? decision.unproven : decision.kind === 'validation'
      if (!isUnproven) keepConnection(raw.socket)
      if (decision.kind === 'answer') return answers.refuse(reply, decision)
      const read = (admission: Admitted) => {
        request.setDecorator(admissionKey, admission)
        proceed()
      }
      if (decision.kind === 'validation') return read({ kind: 'validation' })
      // The sender has gone while the credential was checked.
      if (raw.socket.destroyed) return
      let admission: AdmittedDelivery | undefined
      const waitsSince = clock.elapsed()
      // Reserves room before the body is read. Otherwise bodies that are half read could wait for each other's room for ever.
      const leave = room.enter(declaredLength(headers) ?? gate.maxRequestBytes, clock, (share) => {
        if (!share) return answers.refuse(reply, noRoomRefusal)
        admission = { kind: 'delivery', arrivedAt, waitedMs: clock.elapsed() - waitsSince, share, isHandedOver: false }
        read(admission)
      })
      // Also where the sender has gone, or a hook of the host has answered.
      whenEnded(reply, () => {
        leave()
        if (admission && !admission.isHandedOver) admission.share.release()
      })
    }
    const decision = decideByHead(gate, raw.method ?? '', headers)
    if (!(decision instanceof Promise)) follow(decision)
    else inBackground(decision.then(follow), (error) => answers.fail(reply, error, isProven(request)))
  }

  /** Hands on the body of a request that the gate has let in. A hook of the host may have replaced it. */
  function handOn(reply: FastifyReply, admission: Admitted): void {
    const { body } = reply.request
    const isDelivery = admission.kind === 'delivery'
    if (body === overLimit) {
      const answer = tooLarge(isDelivery ? gate.maxRequestBytes : maxValidationBytes)
      answers.refuse(reply, { answer, logEvent: 'unreadable', unproven: !isDelivery })
    } else if (!Buffer.isBuffer(body)) {
      throw new TypeError('a hook of the host has replaced the body by something that is no Buffer')
    } else if (isDelivery) {
      admission.isHandedOver = true
      addToTurn(() => deliver(reply, body, admission), body.length)
    } else {
      const answer = answerValidation(body, { isReady: gate.isReady() })
      answers.refuse(reply, { answer, unproven: true, ...(answer.status === 400 && { logEvent: 'unreadable' }) })
    }
  }

  function deliver(reply: FastifyReply, body: Buffer, { arrivedAt, waitedMs, share }: AdmittedDelivery): void {
    try {
      const { headers } = reply.request
      const reading = readDelivery(body)
      if ('problem' in reading) {
        log.warn('could not read a delivery', { reason: reading.problem })
        answers.refuse(reply, { answer: problemAnswer(400, reading.problem) })
        share.release()
        return
      }
      dispatcher.dispatch({
        members: reading.members,
        metadata: eventMetadata(headers, declared.attributes),
        attributes: declared.attributes,
        share,
        arrivedAt,
        waitedMs,
        redelivered: Number.parseInt(String(headers['aeg-delivery-count']), 10) > 0,
        settle: (outcomes, onKnown) => answers.acknowledge(reply, outcomes, onKnown),
      })
    } catch (error) {
      share.release()
      answers.fail(reply, error, true)
    }
  }

  return async (server) => {
    server.setErrorHandler((error, request, reply) => answers.fail(reply, error, isProven(request)))
    server.decorateRequest(admissionKey, undefined)
    server.removeAllContentTypeParsers()
    server.addContentTypeParser(contentTypes, (request, payload, parsed) => {
      const { raw } = request
      const admission = admissionOf(request)
      const isDelivery = admission.kind === 'delivery'
      const limit = isDelivery ? gate.maxRequestBytes : maxValidationBytes
      // The rest of the body would be answered 400, which ends the event.
      if (payload.readableDidRead) return parsed(new Error('a hook of the host has read the stream of the body'))
      // A stream of a host's hook need not notice that the sender has gone.
      if (payload !== raw) raw.once('error', (error) => payload.destroy(error))
      readBody(payload, limit, (error, body) => {
        // Nobody is left to answer. Node destroys a request at its good end too, so the socket tells.
        if (error && raw.socket.destroyed) return
        if (isDelivery && Buffer.isBuffer(body)) admission.share.resize(body.length)
        parsed(error, body)
      })
    })
    const handler = (request: FastifyRequest, reply: FastifyReply) => handOn(reply, admissionOf(request))
    // A hook onRoute of the host may have wrapped them. An async wrapper answers 200 at once, before the event is handled.
    server.addHook('onRoute', (route) => void Object.assign(route, { handler, errorHandler: undefined }))
    server.route({
      method: server.supportedMethods,
      url: defaultPath,
      bodyLimit: gate.maxRequestBytes,
      config: optOut,
      onRequest: decide,
      handler,
    })
  }
}

/** The decorator of Fastify's request that keeps what the gate has let in, from the end of the head to the end of the body. */
const admissionKey = Symbol('admission')

const isProven = (request: FastifyRequest) =>
  request.getDecorator<Admitted | undefined>(admissionKey)?.kind === 'delivery'

function admissionOf(request: FastifyRequest): Admitted {
  const admission = request.getDecorator<Admitted | undefined>(admissionKey)
  if (!admission) throw new Error('a request did not pass the gate')
  return admission
}

const noRoomRefusal: GateRefusal = {
  answer: problemAnswer(503, 'Too many bytes of events are under way.'),
  logEvent: 'noRoom',
}

/** @fastify/cors would answer OPTIONS itself, @fastify/rate-limit would refuse deliveries. */
const optOut = { cors: false, rateLimit: false } as const

/** Types that Fastify knows by name are found in its cache; a type under `*` is parsed anew for each request. */
const contentTypes = ['application/cloudevents+json', 'application/cloudevents-batch+json', 'application/json', '*']

/**
 * Answers paths without a route 404, with the path that arrived, so that a wrong rewrite of an ingress is easy to find. Before the body is
 * read: Fastify's parsers answer 400 or 413, which would end an event that an ingress sends to the wrong path. Encapsulated, so that the
 * hook runs for these paths alone.
 */
export function createUnknownPaths(answers: Answers): FastifyPluginAsync {
  const answer = (_request: FastifyRequest, reply: FastifyReply) => answerUnknownPath(answers, reply)
  return async (server) => {
    try {
      server.setNotFoundHandler(answer)
    } catch {
      // The host has set its own handler.
      return
    }
    server.addHook('onRequest', answer)
    // An error of the host's hook may have a status that would end the event.
    server.setErrorHandler((error, _request, reply) => answers.fail(reply, error, false))
  }
}

/** Names the path, but not the query, which may be secret. */
export function answerUnknownPath(answers: Answers, reply: FastifyReply): void {
  const path = pathOf(reply.request.originalUrl).slice(0, 256)
  const answer = problemAnswer(404, `There is nothing at ${JSON.stringify(path)}.`, {}, { path })
  answers.refuse(reply, { answer, logEvent: 'otherPath', unproven: true })
}

/** Steps that may wait: more gain nothing, and requests take memory. */
const maxWaiting = 32
/** Bytes of all that may wait. */
const maxBytes = 65_536

/** The steps of this turn, of all listeners of the process: they share its event loop. */
let waiting: { readonly context: AsyncResource; readonly step: () => void }[] = []
let waitingBytes = 0

/**
 * Collects the steps of one turn of the event loop. The steps run one after another when the turn ends, or when their number or bytes
 * reach a bound: all handlers run first, then all answers are sent. The code is then still in the processor's caches, and who waits for the
 * answers is woken once: a delivery took 57.2 µs of processor time with this, and 67.0 µs without (bench/where-time-goes.md).
 * Each step runs in the asynchronous context in which it was added. A step must not throw: the steps behind it would be dropped.
 *
 * @param bytes memory that the step holds
 */
function addToTurn(step: () => void, bytes: number): void {
  waiting.push({ context: new AsyncResource('EventGridDelivery'), step })
  waitingBytes += bytes
  if (waiting.length >= maxWaiting || waitingBytes > maxBytes) workOff()
  // Node calls back after it has read from the sockets that are ready.
  else if (waiting.length === 1) realTimers.setImmediate(workOff)
}

function workOff(): void {
  const steps = waiting
  waiting = []
  waitingBytes = 0
  for (const { context, step } of steps) context.runInAsyncScope(step)
}
