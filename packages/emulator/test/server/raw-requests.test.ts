import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { credentialOf } from '../../../../test/support/azure-clients.ts'
import { startEmulator } from '../../../../test/support/start-emulator.ts'
import { createEmulatorServer } from '../../src/server/server.ts'
import { createCertificateAuthority } from '../../src/server/tls/certificates.ts'
import { connectionLimits } from '../../src/server/unreadable-request.ts'

interface Ports {
  readonly https: string
  readonly http: string
  readonly ca: string
}

async function open(ports: Ports, port: 'https' | 'http'): Promise<Socket> {
  const where = { host: '127.0.0.1', port: Number(new URL(ports[port]).port) }
  const socket = port === 'https' ? connectTls({ ...where, ca: ports.ca }) : connect(where)
  socket.on('error', () => {})
  await once(socket, port === 'https' ? 'secureConnect' : 'connect')
  return socket
}

/** Writes bytes, ends, and reads until the other side closes. */
async function exchange(ports: Ports, port: 'https' | 'http', bytes: string): Promise<string> {
  const socket = await open(ports, port)
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  const closed = once(socket, 'close')
  socket.end(Buffer.from(bytes, 'latin1'))
  await closed
  return Buffer.concat(chunks).toString('latin1')
}

/** The answers that one connection brought; throws unless each refusal has Azure's form. */
function checkAnswers(text: string): number[] {
  const statuses: number[] = []
  let rest = text
  while (rest !== '') {
    const [, status = '', head = ''] = /^HTTP\/1\.1 (\d{3})[^\r]*((?:\r\n[^\r]+)*)\r\n\r\n/.exec(rest) ?? []
    const code = Number(status)
    expect(code, rest.slice(0, 200)).toBeGreaterThanOrEqual(100)
    expect(code).toBeLessThan(500)
    const after = rest.indexOf('\r\n\r\n') + 4
    // It may be the last: Node drops an answer that is not ready when the client ends its side.
    if (code === 100) {
      rest = rest.slice(after)
      continue
    }
    const length = Number(/content-length: (\d+)/i.exec(`${head}`)?.[1] ?? 0)
    const body = rest.slice(after, after + length)
    expect(body).not.toMatch(/\.[jt]s:\d+|node_modules|\bat \w+ \(/)
    // Entra's errors have a form of their own; a proxy's refusal has no body.
    if (code >= 400 && body !== '') {
      const { error } = JSON.parse(body)
      if (typeof error !== 'string') {
        expect(error).toMatchObject({ code: expect.stringMatching(/^\w+$/), message: expect.any(String) })
      }
    }
    statuses.push(code)
    rest = rest.slice(after + length)
  }
  return statuses
}

const topic = '/topics/orders/api/events'
const text = (method: string, path: string, headers: readonly string[], body = '') =>
  `${[`${method} ${path} HTTP/1.1`, ...headers, 'Connection: close'].join('\r\n')}\r\n\r\n${body}`

const openPorts = async () => {
  const emulator = await startEmulator()
  return { emulator, ports: { https: emulator.endpoints.resourceManager, http: emulator.proxy, ca: emulator.ca } }
}

describe.each(['http', 'https'] as const)('over %s, bytes that are no proper request', (port) => {
  const host = 'Host: a'
  it.each([
    { name: 'noise', bytes: '\u0000\u0001\u0002\r\n\r\n', status: 400 },
    { name: 'a huge header', bytes: text('GET', topic, [host, `X: ${'x'.repeat(40_000)}`]), status: 400 },
    {
      name: 'thousands of headers',
      bytes: text('GET', topic, [host, ...Array.from({ length: 3000 }, (_, index) => `X${index}: 1`)]),
      status: 400,
    },
    { name: 'no host', bytes: text('POST', topic, ['Content-Length: 2'], '[]'), status: 401 },
    {
      name: 'a host that is none',
      bytes: text('POST', topic, ['Host: a b[]', 'Content-Length: 2'], '[]'),
      status: 401,
    },
    {
      name: 'an unknown expectation',
      bytes: text('POST', topic, [host, 'Expect: magic', 'Content-Length: 0']),
      status: 417,
    },
    { name: 'a protocol to change to', bytes: text('GET', topic, [host, 'Upgrade: websocket']), status: 405 },
    { name: 'a path with a broken escape', bytes: text('GET', '/topics/%zz/api/events', [host]), status: 400 },
    {
      name: 'a path that is no path',
      bytes: text('PROPFIND', '//[/topics', [host]),
      status: 404,
    },
    {
      name: 'a media type that is none',
      bytes: text('POST', topic, [host, 'Content-Type: ;;;', 'Content-Length: 2'], '[]'),
      status: 400,
    },
  ])('are answered in Azure’s form: $name', async ({ bytes, status }) => {
    const { ports } = await openPorts()
    expect(checkAnswers(await exchange(ports, port, bytes))).toEqual([status])
  })
})

it.each(['http', 'https'] as const)(
  'over %s, a client that waits for "100 Continue" gets its answer too',
  async (port) => {
    const { emulator, ports } = await openPorts()
    const socket = await open(ports, port)
    let answer = ''
    socket.on('data', (chunk) => {
      answer += chunk
    })
    const head = ['Host: a', 'Expect: 100-continue', 'Content-Length: 2', `aeg-sas-key: ${emulator.topic().key}`]
    socket.write(text('POST', topic, [...head, 'Content-Type: application/cloudevents-batch+json'], '[]'))
    await once(socket, 'close')
    expect(answer).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 400 /)
    expect(checkAnswers(answer)).toEqual([400])
  },
)

it('tells a client that takes the https port for a proxy', async () => {
  const { ports } = await openPorts()
  const answer = await exchange(ports, 'https', 'CONNECT management.azure.com:443 HTTP/1.1\r\nHost: a\r\n\r\n')
  expect(checkAnswers(answer)).toEqual([405])
})

it('survives anything that is written to its sockets, and goes on working', async () => {
  const { emulator, ports } = await openPorts()
  const { token } = await credentialOf(emulator).getToken('https://management.azure.com/.default')
  const path = fc.oneof(
    fc.constantFrom(
      topic,
      `/subscriptions/${emulator.subscriptionId}?api-version=2022-12-01`,
      `${emulator.topic().id}/x`,
    ),
    fc.string({ unit: 'binary-ascii', maxLength: 60 }).map((one) => `/x${one.replace(/[^!-~]/g, '')}`),
  )
  const header = fc.oneof(
    fc.constantFrom(
      'Host: a',
      'Host: management.azure.com',
      'Host: orders.westeurope-1.eventgrid.azure.net',
      'Host: [',
      'Content-Length: 2',
      'Content-Length: 5000000',
      'Transfer-Encoding: chunked',
      'Transfer-Encoding: chunked, identity',
      'Content-Type: application/cloudevents+json',
      'Content-Type: application/json; charset="',
      'Expect: 100-continue',
      `aeg-sas-key: ${emulator.topic().key}`,
      `Authorization: Bearer ${token}`,
      'Authorization: SharedAccessSignature r=%&e=%&s=%',
      `X-Long: ${'x'.repeat(20_000)}`,
    ),
    fc
      .tuple(fc.stringMatching(/^[A-Za-z-]{1,12}$/), fc.string({ unit: 'binary-ascii', maxLength: 40 }))
      .map(([name, value]) => `${name}: ${value}`),
  )
  const request = fc
    .record({
      method: fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'QUERY', 'PROPFIND', 'BREW'),
      path,
      headers: fc.array(header, { maxLength: 6 }),
      body: fc.oneof(
        fc.constantFrom('', '[]', '{}', '2\r\n[]\r\n0\r\n\r\n', '[{"id":1}]'),
        fc.string({ maxLength: 50 }),
      ),
    })
    .map(({ method, path: where, headers, body }) => text(method, where, headers, body))
  const bytes = fc.oneof({ weight: 8, arbitrary: request }, { weight: 1, arbitrary: fc.string({ maxLength: 200 }) })
  await fc.assert(
    fc.asyncProperty(bytes, fc.constantFrom('http' as const, 'https' as const), async (sent, port) => {
      checkAnswers(await exchange(ports, port, sent))
    }),
    { numRuns: 250 },
  )
  const answer = await fetch(emulator.topic().httpEndpoint, {
    method: 'POST',
    headers: { 'aeg-sas-key': emulator.topic().key, 'content-type': 'application/cloudevents+json' },
    body: JSON.stringify({ specversion: '1.0', id: '1', source: '/s', type: 't' }),
  })
  expect(answer.status).toBe(200)
})

describe('connections', () => {
  const openServer = async (limits: Partial<typeof connectionLimits>) => {
    const authority = createCertificateAuthority()
    const server = createEmulatorServer(authority, '127.0.0.1', () => true, { ...connectionLimits, ...limits })
    server.app.get('/topics/x', async () => 'there')
    const { port, httpPort } = await server.listen('127.0.0.1', { port: 0, httpPort: 0 })
    onTestFinished(() => server.close())
    return { https: `https://127.0.0.1:${port}`, http: `http://127.0.0.1:${httpPort}`, ca: authority.certificate }
  }

  it.each(['http', 'https'] as const)('that say nothing are ended by the %s port', async (port) => {
    const ports = await openServer({ headersMs: 40 })
    const socket = await open(ports, port)
    let answer = ''
    socket.on('data', (chunk) => {
      answer += chunk
    })
    await once(socket, 'close')
    expect(checkAnswers(answer)).toEqual([408])
  })

  it('that never finish their TLS handshake are ended', async () => {
    const ports = await openServer({ handshakeMs: 40 })
    const socket = connect(Number(new URL(ports.https).port), '127.0.0.1')
    socket.on('error', () => {})
    socket.resume()
    await once(socket, 'close')
  })

  it('that are silent do not hold up the end of the emulator', async () => {
    const emulator = await startEmulator()
    for (const address of [emulator.endpoints.resourceManager, emulator.proxy]) {
      const socket = connect(Number(new URL(address).port), '127.0.0.1')
      socket.on('error', () => {})
      await once(socket, 'connect')
    }
    await emulator.close()
  })

  it('that have had their answer are ended after a while', async () => {
    const ports = await openServer({ idleMs: 1 })
    const socket = await open(ports, 'http')
    const closed = once(socket, 'close')
    socket.resume()
    socket.write('GET /topics/x HTTP/1.1\r\nHost: a\r\n\r\n')
    await closed
  })

  it.each(['http', 'https'] as const)('beyond the most that the %s port takes are closed at once', async (port) => {
    const ports = await openServer({ connections: 2 })
    await open(ports, port)
    await open(ports, port)
    const third = connect(Number(new URL(ports[port]).port), '127.0.0.1')
    third.on('error', () => {})
    await once(third, 'close')
  })
})
