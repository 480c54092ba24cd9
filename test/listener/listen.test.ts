import { createServer } from 'node:net'
import { expect, it } from 'vitest'
import { freePort } from '../support/free-port.ts'
import { listen } from '../support/listen.ts'
import { quickenTime } from '../support/quick-time.ts'
import { refusal } from '../support/refusal.ts'
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

it.each([
  {
    name: 'an address of another machine',
    listenAddress: '192.0.2.1',
    reason: 'EADDRNOTAVAIL',
    what: 'listenAddress 192.0.2.1 is not an address of this machine',
    fix: 'leave listenAddress out, or name an address of this machine',
  },
  {
    name: 'no address',
    listenAddress: 'nowhere.invalid',
    reason: 'ENOTFOUND',
    what: /^PORT_UNAVAILABLE: cannot listen on nowhere\.invalid port \d+ \(ENOTFOUND\)/,
    fix: 'check handshakePort and listenAddress',
  },
])('says what is wrong with $name, and what to do', async ({ listenAddress, reason, what, fix }) => {
  const handshakePort = await freePort()
  const error = await refusal(openListener({ input: { handshakePort, listenAddress } }))
  expect(error).toMatchObject({
    code: 'PORT_UNAVAILABLE',
    details: { port: handshakePort, host: listenAddress, reason },
  })
  expect(error.message).toMatch(what)
  expect(error.message).toContain(fix)
})

it('says that a port is in use, at once where nobody frees it', async () => {
  quickenTime()
  const handshakePort = await listen(createServer())
  const error = await refusal(openListener({ input: { handshakePort } }))
  expect(error.message).toContain(`handshakePort ${handshakePort} is in use`)
  expect(error.message).toContain('stop what listens there or choose another port')
})
