/** Sends an answer by Fastify's reply, or past the hooks of the host. */
import type { FastifyReply } from 'fastify'
import type { Answer } from './answer.ts'
import { declaredLength } from './representation.ts'

/** Bytes of an unread body. Below it, reading the rest is cheaper than a new connection. */
const cheapBodyBytes = 65_536

/** Sends an answer. `closes`: the connection ends with it. */
export function sendAnswer(reply: FastifyReply, { status, headers, body }: Answer, closes = false): void {
  const { req } = reply.raw
  // Otherwise Node reads the rest of the body, to be ready for the next request.
  const isLeft = !req.complete && (declaredLength(req.headers) ?? Number.POSITIVE_INFINITY) > cheapBodyBytes
  // Node loses what was sent at once behind a request for an upgrade.
  if (closes || isLeft || req.headers.upgrade !== undefined) reply.header('connection', 'close')
  // Also where it is the status already: a redirect by a hook of the host would otherwise make it 302.
  reply.code(status)
  for (const name in headers) reply.header(name, headers[name])
  void reply.send(body)
}

/** Sends an answer past the host's hooks: the error of a hook may have a status, 400 for instance, that would end the event. */
export function sendPastHooks(reply: FastifyReply, { status, headers, body }: Answer): void {
  reply.hijack()
  reply.raw.writeHead(status, { ...headers, 'content-length': body?.length ?? 0 }).end(body)
}
