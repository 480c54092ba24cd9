import { createServer } from 'node:net'
import { expect, it } from 'vitest'
import { freePort } from '../support/free-port.ts'
import { listen } from '../support/listen.ts'
import { quickenTime } from '../support/quick-time.ts'
import { openListener } from './open-listener.ts'

// Of 127.0.0.0/8 macOS has 127.0.0.1 alone.
it.skipIf(process.platform === 'darwin')('leaves another address of the same port alone', async () => {
  const handshakePort = await freePort()
  const one = await openListener({ input: { listenAddress: '127.0.0.1', handshakePort } })
  const other = await openListener({ input: { listenAddress: '127.0.0.2', handshakePort } })
  expect([one, other].map(({ listener }) => listener.address.port)).toEqual([handshakePort, handshakePort])
})

it('takes a port that is freed within two seconds, and gives up after them', async () => {
  quickenTime()
  const server = createServer()
  const handshakePort = await listen(server)
  const opening = openListener({ input: { handshakePort } })
  setTimeout(() => server.close(), 1_500)
  const { listener } = await opening
  await expect(openListener({ input: { handshakePort: listener.address.port } })).rejects.toMatchObject({
    code: 'PORT_UNAVAILABLE',
    details: { port: handshakePort, host: '127.0.0.1', reason: 'EADDRINUSE' },
  })
})
