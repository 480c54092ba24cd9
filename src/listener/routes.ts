/** The routes of the listener: each request is decided on by its head, read, and handed on. */
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { inBackground } from '../support/work/in-background.ts'
import { decideByHead, type Gate, type GateDecision } from './admit/decide-request.ts'
import { maxValidationBytes } from './admit/handshake.ts'
import type { Answers } from './answers.ts'
import type { Admitted, Bodies } from './bodies.ts'
import { problemAnswer } from './http/answer.ts'
import { type BodyBudget, readBody } from './http/request.ts'
import { defaultPath, pathOf } from './paths.ts'

export interface RoutesOptions {
  readonly gate: Gate
  readonly answers: Answers
  readonly bodies: Bodies
  /** For bodies of deliveries with proof. */
  readonly deliveryBudget: BodyBudget
  /** For bodies of validation requests, which need no proof. */
  readonly validationBudget: BodyBudget
  readonly elapsed: () => number
  /** Called with the connection of each request that has proof. */
  readonly keepConnection: (socket: Socket) => void
}

/**
 * The routes of the listener as a Fastify plugin. It must not be wrapped by fastify-plugin: encapsulated, its parsers and its error handler
 * touch nothing of the host.
 */
export function createRoutes(options: RoutesOptions): FastifyPluginAsync {
  const { gate, answers, bodies, deliveryBudget, validationBudget, elapsed, keepConnection } = options
  function decide(request: FastifyRequest, reply: FastifyReply, proceed: () => void): void {
    const arrivedAt = elapsed()
    // A hook of the host may have replaced the headers.
    const { raw, headers } = request
    const follow = (decision: GateDecision) => {
      if (decision.kind === 'read' ? decision.as === 'delivery' : !decision.unproven) keepConnection(raw.socket)
      if (decision.kind === 'answer') return answers.refuse(reply, decision)
      // Invites the body only now that the head was accepted. HTTP/1.0 has no such answer.
      if (headers.expect !== undefined && raw.httpVersion !== '1.0') reply.raw.writeContinue()
      admit(raw, { as: decision.as, arrivedAt })
      proceed()
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
        const isDelivery = admittedOf(raw).as === 'delivery'
        const limit = isDelivery ? gate.maxRequestBytes : maxValidationBytes
        // A stream of a host's hook need not notice that the sender has gone.
        if (payload !== raw) raw.once('error', (error) => payload.destroy(error))
        readBody(payload, limit, isDelivery ? deliveryBudget : validationBudget, (error, body) => {
          // Nobody is left to answer. Node destroys a request at its good end too, so the socket tells.
          if (error && raw.socket.destroyed) return
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

const key: unique symbol = Symbol('admitted')

type NodeRequest = IncomingMessage & { [key]?: Admitted }

/**
 * Keeps it with Node's request. A decorator of Fastify's would be looked up anew for each event where there are many components, because
 * each of them has its own class of requests.
 */
function admit(request: NodeRequest, admitted: Admitted): void {
  request[key] = admitted
}

function admittedOf({ [key]: admitted }: NodeRequest): Admitted {
  if (!admitted) throw new Error('a request did not pass the gate')
  return admitted
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
