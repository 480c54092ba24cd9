import { lookup } from 'node:dns/promises'
import { createServer } from 'node:http'
import { expect, it, onTestFinished } from 'vitest'
import { bindable, listen } from '../../../src/listener/http/listen.ts'
import { closable } from '../../../src/support/net/closable-server.ts'
import { freePort } from '../../support/free-port.ts'
import { cloudEventText, openListener } from '../open-listener.ts'

function create() {
  const server = createServer((_request, response) => response.end())
  return bindable(server, closable(server))
}

/** Listens on the addresses that a name has. */
async function listenOn(addresses: readonly string[], port = 0) {
  const lookup = async () => addresses.map((address) => ({ address }))
  const listening = await listen({ create, port, lookup, host: 'binding.example.com' })
  onTestFinished(() => listening.close())
  return { ...listening, isUp: (host: string) => isUp(host, listening.address.port) }
}

const isUp = (host: string, port: number) =>
  fetch(`http://${host}:${port}`).then(
    ({ ok }) => ok,
    () => false,
  )

// Of 127.0.0.0/8 macOS has 127.0.0.1 alone.
const itWithMore = it.skipIf(process.platform === 'darwin')

itWithMore(
  'listens on all addresses of a name, each once, and passes over those that are of another machine',
  async () => {
    const { address, close, isUp } = await listenOn(['198.51.100.1', '127.0.0.1', '127.0.0.2', '127.0.0.1'])
    expect(address.address).toBe('127.0.0.1')
    expect(await Promise.all(['127.0.0.1', '127.0.0.2', '127.0.0.3'].map(isUp))).toEqual([true, true, false])
    await close()
    expect(await Promise.all(['127.0.0.1', '127.0.0.2'].map(isUp))).toEqual([false, false])
  },
)

it('serves the same at every address of a name', async () => {
  const { listener, deliver } = await openListener({ input: { listenAddress: 'localhost' } })
  for (const { address, family } of await lookup('localhost', { all: true })) {
    const host = family === 6 ? `[${address}]` : address
    const answer = await fetch(`http://${host}:${listener.address.port}/api/events`, { method: 'OPTIONS' })
    expect(answer.status).toBe(200)
  }
  expect((await deliver(cloudEventText('1'))).status).toBe(200)
})

itWithMore('frees the first address where the port is taken on the second', async () => {
  const { address } = await listenOn(['127.0.0.2'], await freePort())
  await expect(listenOn(['127.0.0.1', '127.0.0.2'], address.port)).rejects.toMatchObject({
    code: 'PORT_UNAVAILABLE',
    details: { host: '127.0.0.2', port: address.port, reason: 'EADDRINUSE' },
  })
  expect(await isUp('127.0.0.1', address.port)).toBe(false)
})

it('says so where a name has no address of this machine, or none at all', async () => {
  await expect(listenOn(['198.51.100.1', '203.0.113.1'])).rejects.toMatchObject({
    message: expect.stringContaining('listenAddress 203.0.113.1 is not an address of this machine'),
  })
  await expect(listenOn([])).rejects.toMatchObject({ code: 'PORT_UNAVAILABLE' })
  await expect(listen({ create, port: 0, host: 'nowhere.invalid' })).rejects.toMatchObject({
    code: 'PORT_UNAVAILABLE',
    message: expect.stringMatching(/nowhere\.invalid/),
  })
})
