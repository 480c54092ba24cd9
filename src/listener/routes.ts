import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { type Answer, problemAnswer } from './answer.ts'
import { type Gate, type GateDecision, isValidation } from './gate.ts'
import { defaultPath, pathOf } from './paths.ts'
import type { BodyReader, BodyResult } from './read-body.ts'
import { declaredLength } from './representation.ts'

/** A request whose body is read. */
export type Admitted = GateDecision & {
  readonly kind: 'read'
  /** Milliseconds, when the head was there. */
  readonly arrivedAt: number
}

export interface RoutesOptions {
  readonly gate: Gate
  /** Reads bodies of deliveries with proof. */
  readonly readDeliveryBody: BodyReader
  /** Reads bodies of validation requests, which need no proof. */
  readonly readValidationBody: BodyReader
  readonly maxRequestBytes: number
  readonly elapsed: () => number
  /** The gate answered. */
  readonly onAnswer: (reply: FastifyReply, decision: GateDecision & { kind: 'answer' }) => void
  /** The body is there. */
  readonly onBody: (reply: FastifyReply, admitted: Admitted, body: BodyResult) => void
  /** The code failed, ours or a hook of the host. */
  readonly onError: (reply: FastifyReply, error: unknown) => void
}

const admittedKey = Symbol('admitted')

/**
 * The routes of the listener as a Fastify plugin. It must not be wrapped by fastify-plugin: encapsulated, its parsers and its error handler
 * touch nothing of the host.
 */
export function createRoutes(options: RoutesOptions): FastifyPluginAsync {
  const { gate, readDeliveryBody, readValidationBody, elapsed, onAnswer, onBody, onError } = options

  function decide(request: FastifyRequest, reply: FastifyReply, proceed: () => void): void {
    const arrivedAt = elapsed()
    const follow = (decision: GateDecision) => {
      if (decision.kind === 'answer') return onAnswer(reply, decision)
      // Invites the body only now that the head was accepted.
      if (request.headers.expect !== undefined) reply.raw.writeContinue()
      request.setDecorator<Admitted>(admittedKey, { ...decision, arrivedAt })
      proceed()
    }
    // A hook of the host may have replaced the headers.
    const decision = gate(request.method, request.headers)
    if (decision instanceof Promise) decision.then(follow).catch((error: unknown) => onError(reply, error))
    else follow(decision)
  }

  return async (server) => {
    server.decorateRequest(admittedKey, null)
    server.setErrorHandler((error, _request, reply) => onError(reply, error))
    server.removeAllContentTypeParsers()
    // Types that Fastify knows by name are found in its cache; a type under `*` is parsed anew for each request.
    for (const type of contentTypes) {
      server.addContentTypeParser(type, (request, payload, parsed) => {
        const { as, limit } = request.getDecorator<Admitted>(admittedKey)
        const read = as === 'delivery' ? readDeliveryBody : readValidationBody
        read(payload, limit, (body) => parsed(null, body))
      })
    }
    server.route<{ Body: BodyResult }>({
      method: server.supportedMethods,
      url: defaultPath,
      bodyLimit: options.maxRequestBytes,
      config: optOut,
      onRequest: decide,
      // Hooks of the host see the body in the request, and may replace it.
      handler: (request, reply) => onBody(reply, request.getDecorator<Admitted>(admittedKey), request.body),
    })
  }
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
export function createUnknownPaths(onAnswer: RoutesOptions['onAnswer']): FastifyPluginAsync {
  const answer = (_request: FastifyRequest, reply: FastifyReply) => answerUnknownPath(reply, onAnswer)
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
export function answerUnknownPath(reply: FastifyReply, onAnswer: RoutesOptions['onAnswer']): void {
  const path = pathOf(reply.request.originalUrl).slice(0, 256)
  const answer = problemAnswer(404, `There is nothing at ${JSON.stringify(path)}.`)
  onAnswer(reply, { kind: 'answer', answer, logEvent: 'otherPath' })
}

/** Bytes of an unread body. Below it, reading the rest is cheaper than a new connection. */
const cheapBodyBytes = 65_536

/** Sends an answer. `unread`: the body of the request was not read to its end. */
export function send(reply: FastifyReply, { status, headers, body }: Answer, rest?: 'unread'): void {
  const { headers: asked } = reply.request.raw
  // Otherwise Node reads the rest of the body, to be ready for the next request.
  const isLeft = rest === 'unread' && (declaredLength(asked) ?? Number.POSITIVE_INFINITY) > cheapBodyBytes
  // Node loses what was sent at once behind a request for an upgrade.
  if (isLeft || asked.upgrade !== undefined) reply.header('connection', 'close')
  void reply.code(status).headers(headers).send(body)
}

/** Sends an answer past the host's hooks: the error of a hook may have a status, 400 for instance, that would end the event. */
export function sendPastHooks(reply: FastifyReply, { status, headers, body }: Answer): void {
  reply.hijack()
  reply.raw.writeHead(status, { ...headers, 'content-length': body?.length ?? 0 }).end(body)
}

/** Is it a delivery, and not a handshake? */
export function isDelivery({ method, headers }: FastifyRequest): boolean {
  return method === 'POST' && !isValidation(headers)
}
