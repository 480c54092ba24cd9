import { once } from 'node:events'
import { connect } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { expect, it, onTestFinished } from 'vitest'
import { quickenTime } from '../../../../test/support/quick-time.ts'
import { startEmulator } from '../../../../test/support/start-emulator.ts'

const size = 1_700_000

/**
 * Writes a whole request in small pieces, with a turn of the event loop between them, and only then reads: as Python's clients do.
 * Fails where the connection breaks while it writes.
 */
async function writeThenRead(
  origin: string,
  ca: string,
  lines: readonly string[],
  isChunked: boolean,
): Promise<string> {
  const { protocol, port } = new URL(origin)
  const where = { host: '127.0.0.1', port: Number(port) }
  const socket = protocol === 'https:' ? connectTls({ ...where, ca }) : connect(where)
  onTestFinished(() => void socket.destroy())
  await once(socket, protocol === 'https:' ? 'secureConnect' : 'connect')
  const failed = new Promise<never>((_resolve, reject) => void socket.on('error', reject))
  const write = (text: string) => new Promise<void>((done) => void socket.write(text, () => setImmediate(done)))
  const length = isChunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${size}`
  const run = async () => {
    await write(`${[...lines, 'Host: 127.0.0.1', length].join('\r\n')}\r\n\r\n`)
    const piece = 'x'.repeat(10_000)
    for (let sent = 0; sent < size; sent += piece.length) await write(isChunked ? `2710\r\n${piece}\r\n` : piece)
    if (isChunked) await write('0\r\n\r\n')
    const chunks: Buffer[] = []
    socket.on('data', (chunk: Buffer) => chunks.push(chunk))
    while (!/^HTTP.*\r\n\r\n./s.test(Buffer.concat(chunks).toString())) await once(socket, 'data')
    return Buffer.concat(chunks).toString()
  }
  return Promise.race([run(), failed])
}

const publish = '/topics/orders/api/events?api-version=2018-01-01'

it.each([
  { what: '413 of a topic', line: `POST ${publish}`, key: true, status: 413 },
  { what: '401 of a topic', line: `POST ${publish}`, status: 413 },
  { what: '404 of a topic', line: 'POST /topics/none/api/events', status: 413 },
  { what: '404 of a path', line: 'POST /topics/a/b/c', status: 413 },
  { what: 'a fault in a topic', line: `POST ${publish}`, fault: 503, status: 503 },
  { what: '400 of Entra', line: 'POST /x/oauth2/v2.0/token', type: 'image/png', https: true, status: 400 },
  { what: '400 of Resource Manager', line: 'PUT /subscriptions/x', https: true, status: 400 },
  { what: 'a path that there is not', line: 'POST /nowhere', status: 404 },
  { what: 'a path of https, over http', line: 'PUT /subscriptions/x', status: 403 },
  { what: 'an expectation', line: 'POST /nowhere', expect: true, status: 417 },
  { what: 'headers that are too long', line: `POST ${publish}`, longHeader: true, status: 400 },
  {
    what: 'headers that are too long, over https',
    line: 'PUT /subscriptions/x',
    longHeader: true,
    https: true,
    status: 400,
  },
])('$what reaches a client that writes 1.7 MB first', async (given) => {
  const emulator = await startEmulator()
  const { endpoints, proxy, ca } = emulator
  for (const isChunked of [false, true]) {
    if (given.fault !== undefined) emulator.failNext({ route: 'topic', status: given.fault })
    const lines = [
      `${given.line} HTTP/1.1`,
      `Content-Type: ${given.type ?? 'application/cloudevents+json'}`,
      ...(given.key ? [`aeg-sas-key: ${emulator.topic().key}`] : []),
      ...(given.expect ? ['Expect: magic'] : []),
      ...(given.longHeader ? [`X: ${'x'.repeat(40_000)}`] : []),
    ]
    const answer = await writeThenRead(given.https ? endpoints.resourceManager : proxy, ca, lines, isChunked)
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${given.status} `))
  }
})

it('a client that announces a body and sends none has its answer soon', async () => {
  quickenTime()
  const { proxy } = await startEmulator()
  const socket = connect(Number(new URL(proxy).port), '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  socket.write('POST /nowhere HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n')
  const [answer] = await once(socket, 'data')
  expect(String(answer)).toContain('404')
})
