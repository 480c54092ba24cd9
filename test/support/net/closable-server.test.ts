import { once } from 'node:events'
import { createServer as createHttpServer, get, type ServerResponse } from 'node:http'
import { createServer } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { expect, it } from 'vitest'
import { closable } from '../../../src/support/net/closable-server.ts'
import { listen } from '../listen.ts'
import { openConnection } from '../open-connection.ts'

it.each([
  { name: 'a net server', create: () => createServer() },
  { name: 'an http server', create: () => createHttpServer() },
])('closes $name whose client neither sends anything nor goes away', async ({ create }) => {
  const server = create()
  const { close } = closable(server)
  const client = await openConnection(await listen(server))
  const closed = once(client, 'close')
  await close(1)
  await closed
})

it('lets a request under way end, and does not wait for its connection after that', async () => {
  const server = createHttpServer((_request, response) => void pending.resolve(response))
  const pending = Promise.withResolvers<ServerResponse>()
  const { close } = closable(server)
  const port = await listen(server)
  const asked = get({ port, host: '127.0.0.1', headers: { connection: 'keep-alive' } })
  const answered = once(asked, 'response')
  const response = await pending.promise
  const closed = close(2 ** 31 - 1)
  response.end('done')
  const [answer] = await answered
  expect(String(await buffer(answer))).toBe('done')
  await closed
})

it('closes a server that does not listen', async () => {
  await closable(createHttpServer()).close()
})
