/** The routes of the listener: each request is decided on by its head, read, and handed on. */
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import type { Room } from '../dispatch/room.ts'
import type { Clock } from '../support/time/clock.ts'
import { inBackground } from '../support/work/in-background.ts'
import { decideByHead, type Gate, type GateDecision, type GateRefusal } from './admit/decide-request.ts'
import { maxValidationBytes } from './admit/handshake.ts'
import type { Answers } from './answers.ts'
import type { Admitted, AdmittedDelivery, Bodies } from './bodies.ts'
import { problemAnswer } from './http/answer.ts'
import { type BodyBudget, declaredLength, readBody } from './http/request.ts'
import { defaultPath, pathOf } from './paths.ts'

export interface RoutesOptions {
  readonly gate: Gate
  readonly answers: Answers
  readonly bodies: Bodies
  /** For deliveries with proof. */
  readonly room: Room
  /** For bodies of validation requests, which need no proof. */
  readonly validationBudget: BodyBudget
  readonly clock: Pick<Clock, 'setTimer'>
  readonly elapsed: () => number
  /** Called with the connection of each request that has proof. */
  readonly keepConnection: (socket: Socket) => void
}

/**
 * The routes of the listener as a Fastify plugin. It must not be wrapped by fastify-plugin: encapsulated, its parsers and its error handler
 * touch nothing of the host.
 */
export function createRoutes(options: RoutesOptions): FastifyPluginAsync {
  const { gate, answers, bodies, room, validationBudget, clock, elapsed, keepConnection } = options

  /**
   * What the gate has let in, from the end of its head to the end of its body. By Node's request: a decorator of Fastify's would be looked up
   * anew for each event where there are many components, because each of them has its own class of requests.
   */
  const admitted = new WeakMap<IncomingMessage, Admitted>()
  const admittedOf = (raw: IncomingMessage): Admitted => {
    const found = admitted.get(raw)
    if (!found) throw new Error('a request did not pass the gate')
    return found
  }

  function decide(request: FastifyRequest, reply: FastifyReply, proceed: () => void): void {
    const arrivedAt = elapsed()
    // A hook of the host may have replaced the headers.
    const { raw, headers } = request
    const follow = (decision: GateDecision) => {
      if (decision.kind === 'read' ? decision.as === 'delivery' : !decision.unproven) keepConnection(raw.socket)
      if (decision.kind === 'answer') return answers.refuse(reply, decision)
      const read = (admission: Admitted) => {
        // Invites the body only now that the head was accepted. HTTP/1.0 has no such answer.
        if (headers.expect !== undefined && raw.httpVersion !== '1.0') reply.raw.writeContinue()
        admitted.set(raw, admission)
        proceed()
      }
      if (decision.as === 'validation') return read({ as: 'validation' })
      // The sender has gone while the credential was checked.
      if (raw.socket.destroyed) return
      let admission: AdmittedDelivery | undefined
      // Before a byte of the body is read: bodies that are half there would keep each other out.
      const leave = room.enter(declaredLength(headers) ?? gate.maxRequestBytes, clock, (place) => {
        if (!place) return answers.refuse(reply, noRoomRefusal)
        admission = { as: 'delivery', arrivedAt, place, isHandedOver: false }
        read(admission)
      })
      // Also where the sender has gone, or a hook of the host has answered.
      reply.raw.once('close', () => {
        leave()
        if (admission && !admission.isHandedOver) admission.place.release()
      })
    }
    const decision = decideByHead(gate, raw.method ?? '', headers)
    if (!(decision instanceof Promise)) follow(decision)
    else {
      const followed = decision.then(follow).catch((error: unknown) => answers.fail(reply, error))
      // The host has broken the reply: Event Grid delivers again when the connection closes without an answer.
      inBackground(followed, () => raw.destroy())
    }
  }

  return async (server) => {
    server.setErrorHandler((error, _request, reply) => answers.fail(reply, error))
    server.removeAllContentTypeParsers()
    // Types that Fastify knows by name are found in its cache; a type under `*` is parsed anew for each request.
    for (const type of contentTypes) {
      server.addContentTypeParser(type, ({ raw }, payload, parsed) => {
        const admission = admittedOf(raw)
        const isDelivery = admission.as === 'delivery'
        const limit = isDelivery ? gate.maxRequestBytes : maxValidationBytes
        // A stream of a host's hook need not notice that the sender has gone.
        if (payload !== raw) raw.once('error', (error) => payload.destroy(error))
        readBody(payload, limit, isDelivery ? undefined : validationBudget, (error, body) => {
          // Nobody is left to answer. Node destroys a request at its good end too, so the socket tells.
          if (error && raw.socket.destroyed) return
          if (isDelivery && Buffer.isBuffer(body)) admission.place.resize(body.length)
          parsed(error, body)
        })
      })
    }
    const handler = (request: FastifyRequest, reply: FastifyReply) => bodies.take(reply, admittedOf(request.raw))
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

const noRoomRefusal: GateRefusal = {
  answer: problemAnswer(503, 'Too many bytes of events are under way.'),
  logEvent: 'noRoom',
}

/** @fastify/cors would answer OPTIONS itself, @fastify/rate-limit would refuse deliveries. */
const optOut = { cors: false, rateLimit: false } as const

const contentTypes = [
  'application/cloudevents+json',
  'application/cloudevents-batch+json',
  'application/json',
  '*',
] as const

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
  }
}

/** Names the path, but not the query, which may be secret. */
export function answerUnknownPath(answers: Answers, reply: FastifyReply): void {
  const path = pathOf(reply.request.originalUrl).slice(0, 256)
  const answer = problemAnswer(404, `There is nothing at ${JSON.stringify(path)}.`, {}, { path })
  answers.refuse(reply, { answer, logEvent: 'otherPath', unproven: true })
}
