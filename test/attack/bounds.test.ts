import { generateKeyPair, SignJWT } from 'jose'
import { expect, it } from 'vitest'
import { createEntraCheck } from '../../src/listener/entra-check.ts'
import { createSigningKeys } from '../../src/listener/signing-keys.ts'
import { createSigner } from '../listener/key-set-server.ts'
import { cloudEventText, openListener, proof } from '../listener/open-listener.ts'
import { eventHeaders, open, request, statuses } from './target.ts'

const validation = [
  'content-type: application/json',
  'aeg-event-type: SubscriptionValidation',
  'aeg-subscription-name: ORDERS',
]
const sender = Object.entries({ ...eventHeaders, ...proof }).map(([name, value]) => `${name}: ${value}`)

it('bodies that are not there to the last byte are bounded together, and the one too many is put off', async () => {
  const { listener, deliver, events } = await openListener({
    input: { maxRequestBytes: 8_000 },
    limits: { maxUnfinishedBytes: 10_000 },
  })
  const slow = await open(listener.address.port)
  slow.write(
    `POST /api/events HTTP/1.1\r\nhost: x\r\n${sender.join('\r\n')}\r\ncontent-length: 7000\r\n\r\n${' '.repeat(6_000)}`,
  )
  const text = cloudEventText('1', { pad: 'x'.repeat(6_000) })
  let answer = await deliver(text)
  // The slow one's bytes come when they come.
  while (answer.status === 200) answer = await deliver(text)
  expect(answer.status).toBe(503)
  expect(answer.headers.get('retry-after')).toBe('30')
  slow.destroy()
  const handled = events.length
  while (answer.status === 503) answer = await deliver(text)
  expect(answer.status).toBe(200)
  expect(events).toHaveLength(handled + 1)
})

it('a validation body may take 64 KiB, however large a delivery may be', async () => {
  const { deliver } = await openListener()
  const validate = { 'aeg-event-type': 'SubscriptionValidation' }
  const body = (bytes: number) => JSON.stringify({ data: { validationCode: 'x' } }).padEnd(bytes)
  expect((await deliver(body(65_536), validate)).status).toBe(200)
  expect((await deliver(body(65_537), validate)).status).toBe(413)
})

it('a validation body in chunks may take no more', async () => {
  const { listener } = await openListener()
  const connection = await open(listener.address.port)
  const head = ['POST /api/events HTTP/1.1', 'host: x', ...validation, 'transfer-encoding: chunked']
  connection.write(`${head.join('\r\n')}\r\n\r\n11000\r\n${' '.repeat(0x11000)}\r\n`)
  expect(statuses(await connection.ended)).toEqual([413])
})

it('connections that have ended take no place of those that come', async () => {
  const { listener } = await openListener({ limits: { maxConnections: 3 } })
  for (let index = 0; index < 10; index++) {
    const gone = await open(listener.address.port)
    gone.write(request('OPTIONS /api/events HTTP/1.1', ['connection: close']))
    expect(statuses(await gone.ended)).toEqual([200])
  }
  const [first, second] = [await open(listener.address.port), await open(listener.address.port)]
  for (const one of [first, second]) one.write(request('OPTIONS /api/events HTTP/1.1', ['connection: close']))
  expect(statuses(await first.ended)).toEqual([200])
  expect(statuses(await second.ended)).toEqual([200])
})

it('connections that have ended are not ended in the place of one that goes on', async () => {
  const { listener } = await openListener({ limits: { maxConnections: 2 } })
  const gone = await open(listener.address.port)
  gone.write(request('OPTIONS /api/events HTTP/1.1', ['connection: close']))
  await gone.ended
  const idle = await open(listener.address.port)
  const next = await open(listener.address.port)
  // The one before it, not the one that has gone long since.
  expect(await idle.ended).toBe('')
  next.write(request('OPTIONS /api/events HTTP/1.1', ['connection: close']))
  expect(statuses(await next.ended)).toEqual([200])
})

it('a connection that brought a validation alone has proven nothing', async () => {
  const { listener } = await openListener({ limits: { maxConnections: 3 } })
  const stranger = await open(listener.address.port)
  const answered = new Promise((resolve) => stranger.once('data', resolve))
  stranger.write(request('POST /api/events HTTP/1.1', validation, '[{"data":{"validationCode":"x"}}]'))
  await answered
  const younger = await open(listener.address.port)
  await open(listener.address.port)
  expect(statuses(await stranger.ended)).toEqual([200])
  younger.write(request('OPTIONS /api/events HTTP/1.1', ['connection: close']))
  expect(statuses(await younger.ended)).toEqual([200])
})

it('connections that are refused leave room for the next, one after the other', async () => {
  const { listener } = await openListener({ limits: { maxConnections: 2 } })
  const first = await open(listener.address.port)
  const second = await open(listener.address.port)
  expect(await first.ended).toBe('')
  const third = await open(listener.address.port)
  expect(await second.ended).toBe('')
  third.write(request('OPTIONS /api/events HTTP/1.1', ['connection: close']))
  expect(statuses(await third.ended)).toEqual([200])
})

it('verified tokens are remembered up to a number, the oldest forgotten first', async () => {
  const { publicKey, privateKey } = await generateKeyPair('RS256')
  let asked = 0
  const check = createEntraCheck({
    expected: {
      tenantId: 't',
      clientId: 'c',
      eventGridClientId: 'g',
      subscriberEndpoint: 'https://x.example.com/',
      issuerHostV1: 'sts.windows.net',
      authorityHosts: [],
    },
    keys: {
      async find() {
        asked++
        return publicKey
      },
    },
    now: () => 0,
    maxCached: 2,
  })
  const claims = { iss: 'https://sts.windows.net/t/', tid: 't', aud: 'c', appid: 'g', exp: 1_000 }
  const tokens = await Promise.all(
    ['1', '2', '3'].map((jti) =>
      new SignJWT({ ...claims, jti }).setProtectedHeader({ alg: 'RS256', kid: 'k' }).sign(privateKey),
    ),
  )
  for (const token of tokens) expect(await check(`Bearer ${token}`)).toEqual({ kind: 'proven' })
  expect(asked).toBe(3)
  expect(check(`Bearer ${tokens[2]}`)).toEqual({ kind: 'proven' })
  expect(check(`Bearer ${tokens[0]}`)).toBeInstanceOf(Promise)
})

it('of a key set a hundred keys are looked at', async () => {
  const { jwk } = await createSigner('last')
  const others = Array.from({ length: 99 }, (_, index) => ({ kty: 'oct', k: 'AA', kid: String(index) }))
  const find = (count: number) =>
    createSigningKeys({
      fetchKeySet: async () => ({ keys: [{ ...jwk, kid: 'first' }, ...others.slice(0, count), jwk] }),
      now: () => 0,
    }).find('last')
  expect(await find(98)).not.toBe('unknown')
  expect(await find(99)).toBe('unknown')
})
