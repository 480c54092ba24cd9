import { connect, createServer } from 'node:net'
import { expect, it, onTestFinished, vi } from 'vitest'
import { createEndpointQuestion, firstAnswer } from '../../src/provision/handshake.ts'
import { targetsOf } from '../../src/support/net/probe.ts'
import { listen } from '../support/listen.ts'
import { answer, openIngress, type Route } from '../support/public-ingress.ts'
import { quickenTime } from '../support/quick-time.ts'
import { inputMetadata } from './input.ts'

const signal = new AbortController().signal
const azure = 'https://management.azure.com'
const consent = answer(200, { 'webhook-allowed-origin': 'eventgrid.azure.net' })

/** An ingress that answers so, and the question to it. */
async function openQuestion(route: Route, host?: string) {
  const ingress = await openIngress(host)
  ingress.route(() => route)
  const input = inputMetadata({ subscriberEndpoint: ingress.url })
  const { ask } = createEndpointQuestion({ input, endpoints: { ca: ingress.ca }, resourceManager: azure })
  return { ingress, ask: () => ask(signal) }
}

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
  const { ingress, ask } = await openQuestion(consent, 'orders.example.com')
  const asked = await useProxy('HTTP/1.1 200 OK', ingress.port)
  expect(await ask()).toEqual({ kind: 'consent', byWaiting: false })
  ingress.route(() => answer(503))
  expect(await ask()).toMatchObject({ kind: 'refusal', refusal: { answer: '503' } })
  expect(asked).toEqual(Array(2).fill('CONNECT orders.example.com:443 HTTP/1.1'))
})

it.each(['HTTP/1.1 403 Forbidden', 'HTTP/1.1 407 Proxy Authentication Required', 'HTTP/1.1 503 Service Unavailable'])(
  'a proxy that opens no tunnel (%s) says nothing about the endpoint',
  async (line) => {
    const asked = await useProxy(line)
    const input = inputMetadata({ subscriberEndpoint: 'https://orders.example.com/api/events' })
    const { ask } = createEndpointQuestion({ input, endpoints: {}, resourceManager: azure })
    expect(await ask(signal)).toEqual({ kind: 'silence', why: 'ERR_PROXY_TUNNEL' })
    expect(asked).toHaveLength(1)
  },
)

it.each([
  { resourceManager: azure, endpoints: {}, kind: 'silence' },
  { resourceManager: 'https://emulator:4430', endpoints: {}, kind: 'silence' },
  { resourceManager: 'https://emulator:4430', endpoints: { topics: 'https://emulator:4430' }, kind: 'emulated' },
  { resourceManager: 'https://localhost:4430', endpoints: {}, kind: 'emulated' },
])('a public name is $kind with $resourceManager and $endpoints', async ({ kind, ...where }) => {
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
  const { ask } = await openQuestion(answer(204, { 'webhook-allowed-origin': allowed }))
  expect(await ask()).toMatchObject({ kind: isConsent ? 'consent' : 'refusal' })
})

it.each<[name: string, route: Route, says: RegExp]>([
  ['404', answer(404), /OPTIONS was answered 404/],
  [
    'a page with 200',
    answer(200, { 'content-type': 'text/html' }, '<title>Sign in</title>'),
    /answered 200 without WebHook-Allowed-Origin \(page: "Sign in"\)/,
  ],
  [
    'consent to another origin',
    answer(200, { 'webhook-allowed-origin': 'eventgrid.azure.us' }),
    /WebHook-Allowed-Origin: eventgrid\.azure\.us/,
  ],
  [
    'a redirect to where consent is',
    answer(307, { location: '/other?code=marked', 'webhook-allowed-origin': '*' }),
    /answered 307, a redirect that Event Grid does not follow, to \/other\?\(redacted\)/,
  ],
])('says what an answer is that is no consent: %s', async (_name, route, says) => {
  const { ask } = await openQuestion(route)
  expect(await ask()).toMatchObject({ kind: 'refusal', refusal: { what: expect.stringMatching(says) } })
})

it('reads a bounded part of an answer that never ends', async () => {
  const { ask } = await openQuestion((response) => {
    response.writeHead(404, { 'content-type': 'text/plain' })
    const more = () => {
      if (response.writable) response.write('x'.repeat(16_384), more)
    }
    more()
  })
  const said = await ask()
  expect(said).toMatchObject({ kind: 'refusal', refusal: { answer: '404' } })
  expect(JSON.stringify(said).length).toBeLessThan(1_000)
})

it('goes by the head of an answer whose body never ends, however little of it comes', async () => {
  quickenTime()
  const open = (status: number, headers = {}) =>
    openQuestion((response) => void response.writeHead(status, headers).write('.'))
  const [refusing, consenting] = [await open(503), await open(200, { 'webhook-allowed-origin': '*' })]
  expect(await Promise.all([refusing.ask(), consenting.ask()])).toMatchObject([
    { kind: 'refusal', refusal: { answer: '503' } },
    { kind: 'consent', byWaiting: false },
  ])
})

it('a consent by a certificate of an authority that nobody trusts is no answer', async () => {
  const ingress = await openIngress()
  ingress.route(() => consent)
  const input = inputMetadata({ subscriberEndpoint: ingress.url })
  const { ask } = createEndpointQuestion({ input, endpoints: {}, resourceManager: azure })
  expect(await ask(signal)).toMatchObject({ kind: 'silence', why: expect.stringMatching(/CERT|VERIFY/) })
})

it('takes the answer of one address while another is silent, and ends the question to that one', async () => {
  const ended: string[] = []
  const silent = (target: string, one: AbortSignal) =>
    new Promise<string>((_, reject) =>
      one.addEventListener('abort', () => {
        ended.push(target)
        reject(one.reason)
      }),
    )
  const ask = (target: string, one: AbortSignal) => (target === 'good' ? Promise.resolve('yes') : silent(target, one))
  expect(await firstAnswer(['black hole', 'good'], signal, ask)).toBe('yes')
  expect(ended).toEqual(['black hole'])
})

it('gives the error of the first address where none answers', async () => {
  const ask = async (target: string) => Promise.reject(new Error(target))
  await expect(firstAnswer(['one', 'other'], signal, ask)).rejects.toThrow('one')
  await expect(firstAnswer([], signal, ask)).rejects.toThrow('no address')
})

it('waits for no look-up of a name once it is aborted', async () => {
  const ending = new AbortController()
  const looked = targetsOf(new URL('https://no-such-host.invalid'), ending.signal)
  ending.abort(new Error('the end'))
  await expect(looked).rejects.toThrow('the end')
})
