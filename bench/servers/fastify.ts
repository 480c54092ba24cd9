// A bare Fastify route that takes the same bodies: its own JSON parser, and 200.
import { fastify } from 'fastify'
import { answerLines, say, setup } from './json-lines.ts'

const { servers = 1 } = setup<{ servers?: number }>()
const ports: (number | undefined)[] = []
let events = 0

for (let index = 0; index < servers; index++) {
  const server = fastify({ bodyLimit: 4 * 1_048_576 })
  server.addContentTypeParser(
    ['application/cloudevents+json', 'application/cloudevents-batch+json'],
    { parseAs: 'string' },
    server.getDefaultJsonParser('error', 'error'),
  )
  server.post('/api/events', (_request, reply) => {
    events++
    return reply.code(200).send()
  })
  await server.listen({ port: 0, host: '127.0.0.1' })
  const address = server.server.address()
  ports.push(typeof address === 'object' ? address?.port : undefined)
}
say({ ports })
await answerLines(() => ({ events }))
