import type { FastifyInstance } from 'fastify'
import type { DeliveryEngine, EmulatorContext } from './context.ts'

/**
 * Adds the publishing routes, `/topics/:name/api/events`, and those of the manual handshake, `/eventsubscriptions/:name/validate`.
 * `app` is a Fastify scope of their own: content type parsers, hooks and the error handler set here concern no other part.
 */
export function registerTopicRoutes(_app: FastifyInstance, _context: EmulatorContext, _engine: DeliveryEngine): void {}
