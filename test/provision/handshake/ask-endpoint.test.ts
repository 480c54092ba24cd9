import { connect, createServer } from 'node:net'
import { expect, it, onTestFinished, vi } from 'vitest'
import { createEndpointQuestion } from '../../../src/provision/handshake/ask-endpoint.ts'
import { listen } from '../../support/listen.ts'
import { answer, openIngress, type Route } from '../../support/public-ingress.ts'
import { quickenTime } from '../../support/quick-time.ts'
import { inputMetadata } from '../input.ts'

const signal = new AbortController().signal
const azure = 'https://management.azure.com'
const consent = answer(200, { 'webhook-allowed-origin': 'eventgrid.azure.net' })

/** A proxy that answers CONNECT by this line, and leads where it says. */
async function useProxy(line: string, port?: number): Promise<string[]> {
  const asked: string[] = []
  const proxy = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', (head) => {
      asked.push(String(head).split('\r\n')[0] ?? '')
      if (port === undefined) return void socket.end(`${line}\r\n\r\n<html>sign in</html>`)
      const onward = connect(port, '127.0.0.1')
      onward.on('error', () => socket.destroy())
      socket.write(`${line}\r\n\r\n`)
      socket.pipe(onward).pipe(socket)
    })
  })
  vi.stubEnv('HTTPS_PROXY', `http://user:marked-password@127.0.0.1:${await listen(proxy)}`)
  onTestFinished(() => void vi.unstubAllEnvs())
  return asked
}

it('asks through the proxy of the environment, which is told the name', async () => {
  const ingress = await openIngress('orders.example.com')
  ingress.route(() => consent)
  const asked = await useProxy('HTTP/1.1 200 OK', ingress.port)
  const input = inputMetadata({ subscriberEndpoint: ingress.url })
  const { ask } = createEndpointQuestion({ input, endpoints: { ca: ingress.ca }, resourceManager: azure })
  expect(await ask(signal)).toEqual({ kind: 'consent', byWaiting: false })
  ingress.route(() => answer(503))
  expect(await ask(signal)).toMatchObject({ kind: 'refusal', refusal: { answer: '503' } })
  expect(asked).toEqual(Array(2).fill('CONNECT orders.example.com:443 HTTP/1.1'))
})

it.each(['HTTP/1.1 403 Forbidden', 'HTTP/1.1 407 Proxy Authentication Required', 'HTTP/1.1 503 Service Unavailable'])(
  'a proxy that opens no tunnel (%s) says nothing about the endpoint',
  async (line) => {
    const asked = await useProxy(line)
    const input = inputMetadata({ subscriberEndpoint: 'https://orders.example.com/api/events' })
    const { ask } = createEndpointQuestion({ input, endpoints: {}, resourceManager: azure })
    expect(await ask(signal)).toEqual({ kind: 'silence', why: 'ERR_PROXY_TUNNEL', hasAnswered: false })
    expect(asked).toHaveLength(1)
  },
)

it.each([
  { resourceManager: azure, endpoints: {}, kind: 'silence' },
  { resourceManager: 'https://emulator:4430', endpoints: {}, kind: 'silence' },
  { resourceManager: 'https://emulator:4430', endpoints: { topics: 'https://emulator:4430' }, kind: 'emulated' },
  { resourceManager: 'https://localhost:4430', endpoints: {}, kind: 'emulated' },
])('a name that does not resolve is $kind with $resourceManager and $endpoints', async ({ kind, ...where }) => {
  const input = inputMetadata({ subscriberEndpoint: 'https://no-such-host.invalid/api/events' })
  expect(await createEndpointQuestion({ input, ...where }).ask(signal)).toMatchObject({ kind })
})

it.each([
  ['*', true],
  [' EventGrid.Azure.net ', true],
  ['other.example.com, eventgrid.azure.net', true],
  ['eventgrid.azure.net.example.com', false],
  ['', false],
])('WebHook-Allowed-Origin: %j is consent: %s', async (allowed, isConsent) => {
  const ingress = await openIngress()
  ingress.route(() => answer(204, { 'webhook-allowed-origin': allowed }))
  const input = inputMetadata({ subscriberEndpoint: ingress.url })
  const { ask } = createEndpointQuestion({ input, endpoints: { ca: ingress.ca }, resourceManager: azure })
  expect(await ask(signal)).toMatchObject({ kind: isConsent ? 'consent' : 'refusal' })
})

it.each<{ name: string; route: Route; says: RegExp }>([
  { name: '404', route: answer(404), says: /OPTIONS was answered 404/ },
  {
    name: 'a page with 200',
    route: answer(200, { 'content-type': 'text/html' }, '<title>Sign in</title>'),
    says: /answered 200 without WebHook-Allowed-Origin \(page: "Sign in"\)/,
  },
  {
    name: 'consent to another origin',
    route: answer(200, { 'webhook-allowed-origin': 'eventgrid.azure.us' }),
    says: /WebHook-Allowed-Origin: eventgrid\.azure\.us/,
  },
  {
    name: 'a redirect to where consent is',
    route: answer(307, { location: '/other?code=marked', 'webhook-allowed-origin': '*' }),
    says: /answered 307, a redirect that Event Grid does not follow, to \/other\?\(redacted\)/,
  },
])('says what an answer is that is no consent: $name', async ({ route, says }) => {
  const ingress = await openIngress()
  ingress.route(() => route)
  const input = inputMetadata({ subscriberEndpoint: ingress.url })
  const { ask } = createEndpointQuestion({ input, endpoints: { ca: ingress.ca }, resourceManager: azure })
  const said = await ask(signal)
  expect(said).toMatchObject({ kind: 'refusal', refusal: { what: expect.stringMatching(says) } })
})

it('reads a bounded part of an answer that never ends', async () => {
  const ingress = await openIngress()
  ingress.route(() => (response) => {
    response.writeHead(404, { 'content-type': 'text/plain' })
    const more = () => {
      if (response.writable) response.write('x'.repeat(16_384), more)
    }
    more()
  })
  const input = inputMetadata({ subscriberEndpoint: ingress.url })
  const { ask } = createEndpointQuestion({ input, endpoints: { ca: ingress.ca }, resourceManager: azure })
  const said = await ask(signal)
  expect(said).toMatchObject({ kind: 'refusal', refusal: { answer: '404' } })
  expect(JSON.stringify(said).length).toBeLessThan(1_000)
})

it('goes by the head of an answer whose body never ends, however little of it comes', async () => {
  quickenTime()
  const heads = [
    { status: 503, headers: {}, said: { kind: 'refusal', refusal: { answer: '503' } } },
    { status: 200, headers: { 'webhook-allowed-origin': '*' }, said: { kind: 'consent', byWaiting: false } },
  ]
  const saying = heads.map(async ({ status, headers, said }) => {
    const ingress = await openIngress()
    ingress.route(() => (response) => void response.writeHead(status, headers).write('.'))
    const input = inputMetadata({ subscriberEndpoint: ingress.url })
    const { ask } = createEndpointQuestion({ input, endpoints: { ca: ingress.ca }, resourceManager: azure })
    expect(await ask(signal)).toMatchObject(said)
  })
  await Promise.all(saying)
})
