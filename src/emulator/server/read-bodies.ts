// How the routes of a face read bodies: of any media type, up to a length, all in one form.
import type { FastifyInstance } from 'fastify'

/** Has a Fastify scope read bodies as `read` does. Longer ones are refused with Fastify's own error. */
export function readBodies(scope: FastifyInstance, bodyLimit: number, read: (body: Buffer) => unknown): void {
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser<Buffer>('*', { parseAs: 'buffer', bodyLimit }, (_request, body, done) =>
    done(null, read(body)),
  )
}
