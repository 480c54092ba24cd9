import { createServer, type Socket } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { createAppChannel } from '../../../../src/sidecar/host/app/app-channel.ts'
import { listen } from '../../../support/listen.ts'

/** What an application does on a connection once a request has begun to arrive. */
type Behaviour = (socket: Socket) => void

/**
 * A channel of one slot to an application that treats its first connection as told, and answers 200 on every other one.
 * `written` resolves when the application has written for the `count`th time.
 */
async function openChannel(behave: Behaviour) {
  let connections = 0
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    const isFirst = connections++ === 0
    sockets.add(socket)
    socket
      .on('error', () => {})
      .once('data', () => {
        if (isFirst) behave(socket)
        else socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n')
      })
  })
  const port = await listen(server)
  const channel = createAppChannel({ address: '127.0.0.1', port, maxConcurrency: 1 })
  onTestFinished(() => {
    channel.close()
    for (const socket of sockets) socket.destroy()
  })
  return channel
}

const event = (signal: AbortSignal) => ({ data: Buffer.from('{"id":"1"}'), metadata: {}, signal })
const upgraded = 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: tea\r\n\r\n'

const endings: readonly { name: string; behave: Behaviour; says: string }[] = [
  { name: 'an upgrade', behave: (socket) => socket.write(upgraded), says: 'the application answered 101' },
  {
    name: '101 that names no protocol',
    behave: (socket) => socket.write('HTTP/1.1 101 Switching Protocols\r\n\r\n'),
    says: 'the application answered 101',
  },
  { name: 'the end of the connection', behave: (socket) => socket.end(), says: 'could not be reached (ECONNRESET)' },
  { name: 'a reset', behave: (socket) => socket.resetAndDestroy(), says: 'could not be reached (ECONNRESET)' },
  { name: 'no HTTP', behave: (socket) => socket.write('tea\r\n\r\n'), says: 'could not be reached (HPE_' },
  {
    name: 'early hints and the end of the connection',
    behave: (socket) => socket.end('HTTP/1.1 103 Early Hints\r\n\r\n'),
    says: 'could not be reached (ECONNRESET)',
  },
  {
    name: 'half a body',
    behave: (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{'),
    says: 'could not be reached (ECONNRESET)',
  },
]

it.each(endings)('fails an event that is answered by $name, and frees its slot', async ({ behave, says }) => {
  const channel = await openChannel(behave)
  const { signal } = new AbortController()
  await expect(channel.deliver('orders', event(signal))).rejects.toThrow(says)
  await channel.deliver('orders', event(signal))
})

/** Writes a text again and again, and calls back after some of them. */
const repeat = (head: string, part: string, abort: () => void): Behaviour => {
  let written = 0
  return (socket) => {
    socket.write(head)
    const timer = setInterval(() => {
      socket.write(part)
      if (++written === 3) abort()
    }, 5)
    socket.once('close', () => clearInterval(timer))
  }
}

it.each([
  { name: 'early hints', head: '', part: 'HTTP/1.1 103 Early Hints\r\n\r\n' },
  { name: 'a body', head: 'HTTP/1.1 200 OK\r\n\r\n', part: 'x' },
  {
    name: 'trailers',
    head: 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n',
    part: 'trailer: x\r\n',
  },
])('gives an event up whose answer goes on with $name when its time is over, and frees its slot', async (one) => {
  const timeIsOver = new AbortController()
  const channel = await openChannel(repeat(one.head, one.part, () => timeIsOver.abort()))
  await expect(channel.deliver('orders', event(timeIsOver.signal))).rejects.toThrow('did not answer in time')
  await channel.deliver('orders', event(new AbortController().signal))
})

it('frees the slot of an event that is answered before the application has read it', async () => {
  const channel = await openChannel((socket) => socket.pause().write('HTTP/1.1 500 No\r\ncontent-length: 0\r\n\r\n'))
  const large = { ...event(new AbortController().signal), data: Buffer.alloc(32 * 1024 * 1024) }
  await expect(channel.deliver('orders', large)).rejects.toThrow('the application answered 500')
  await channel.deliver('orders', event(new AbortController().signal))
})

it('takes an application for one that does not subscribe as long as it answers OPTIONS with an upgrade', async () => {
  const channel = await openChannel((socket) => socket.write(upgraded))
  expect(await channel.probe('orders')).toEqual({ kind: 'refused', status: 101 })
  expect(await channel.probe('orders')).toEqual({ kind: 'subscribed' })
})

it('takes an application for unhealthy as long as it answers GET with an upgrade', async () => {
  const channel = await openChannel((socket) => socket.write(upgraded))
  expect(await channel.healthy('/')).toBe(false)
  expect(await channel.healthy('/')).toBe(true)
})
