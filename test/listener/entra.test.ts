import { generateKeyPairSync } from 'node:crypto'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createEntraCheck, createKeySet, decideToken, type ExpectedToken } from '../../src/listener/entra.ts'
import type { Evidence } from '../../src/listener/log-events.ts'
import { systemClock } from '../../src/support/time/clock.ts'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/free-port.ts'
import { createManualClock } from '../support/manual-clock.ts'
import { quickenTime } from '../support/quick-time.ts'
import { createSigner, openKeySetServer } from './key-set-server.ts'
import { cloudEventText, openListener } from './open-listener.ts'

const tenantId = '11111111-aaaa-4bbb-8ccc-222222222222'
const clientId = '33333333-dddd-4eee-8fff-444444444444'
const eventGridClientId = '4962773b-9cdb-44cf-a8bf-237846a00ab7'
const nowMs = Date.UTC(2026, 10, 21)
const now = nowMs / 1_000

/** The claims of a real v1 token of Event Grid. */
const claimsV1 = {
  iss: `https://sts.windows.net/${tenantId}/`,
  aud: clientId,
  tid: tenantId,
  appid: eventGridClientId,
  ver: '1.0',
  nbf: now - 300,
  exp: now + 86_400,
}
const { appid: azp, ...withoutAppid } = claimsV1
const claimsV2 = { ...withoutAppid, iss: `https://login.microsoftonline.com/${tenantId}/v2.0`, azp, ver: '2.0' }

const expected: ExpectedToken = {
  tenantId,
  clientId,
  eventGridClientId,
  subscriberEndpoint: 'https://orders.example.com/api/events?code=marked',
  issuerHostV1: 'sts.windows.net',
  authorityHosts: ['https://login.microsoftonline.com'],
}

describe('decideToken', () => {
  const endpoint = 'https://orders.example.com/api/events'

  it.each([
    ['version 1', claimsV1],
    ['version 2', claimsV2],
    ['the application id URI as audience', { ...claimsV1, aud: `api://${clientId}` }],
    ['the endpoint without its query as audience', { ...claimsV1, aud: endpoint }],
    ['several audiences', { ...claimsV1, aud: ['https://x.example.com', clientId] }],
    ['ids in upper case', { ...claimsV1, tid: tenantId.toUpperCase(), aud: clientId.toUpperCase() }],
    ['an expiry within the skew', { ...claimsV1, exp: now - 299 }],
    ['a beginning two hours ahead, by a clock that is behind', { ...claimsV1, nbf: now + 7_200 }],
    ['no beginning', { ...claimsV1, nbf: undefined }],
    ['roles beside', { ...claimsV1, roles: ['AzureEventGridSecureWebhookSubscriber'] }],
  ])('accepts %s', (_name, claims) => {
    expect(decideToken(claims, expected, nowMs)).toEqual({ expiresAt: claims.exp * 1_000 })
  })

  it.each<[name: string, claims: unknown, fault: object]>([
    ['claims that are none', 'x', { reason: expect.stringContaining('RS256') }],
    [
      'other issuer',
      { ...claimsV2, iss: 'https://login.partner.example.com/x/v2.0' },
      {
        ...{ claim: 'iss', came: '"https://login.partner.example.com/x/v2.0"' },
        expected: `https://sts.windows.net/${tenantId}/ or https://login.microsoftonline.com/${tenantId}/v2.0`,
      },
    ],
    ['issuer that is no text', { ...claimsV1, iss: 7 }, { claim: 'iss', came: '7' }],
    [
      'other application in a token of both versions',
      { ...claimsV1, appid: 'x', azp },
      { claim: 'appid', came: '"x"' },
    ],
    ['lack of a tenant', { ...claimsV1, tid: undefined }, { claim: 'tid', came: 'nothing', expected: tenantId }],
    ['lack of an application', { ...claimsV1, appid: undefined }, { claim: 'azp', came: 'nothing', expected: azp }],
    ['other application in a v2 token', { ...claimsV2, azp: 'x' }, { claim: 'azp', came: '"x"' }],
    [
      'endpoint with its query as audience',
      { ...claimsV1, aud: expected.subscriberEndpoint },
      { claim: 'aud', came: `"${endpoint}?(redacted)"`, expected: `${clientId} or api://${clientId} or ${endpoint}` },
    ],
    [
      'audiences that are not ours',
      { ...claimsV1, aud: ['a', 7, { b: 1 }] },
      { claim: 'aud', came: '["a",7,{"b":1}]' },
    ],
    ['audience on several lines', { ...claimsV1, aud: 'a\r\nb' }, { came: '"a\\r\\nb"' }],
    ['endless audience', { ...claimsV1, aud: 'y y'.repeat(1_000_000) }, { came: expect.stringMatching(/^.{200}…$/) }],
    [
      'token in the place of an audience',
      { ...claimsV1, aud: 'Bearer eyJhbGciOiJSUzI1NiJ9.eyJhdWQiOiJ4In0.c2lnbmF0dXJl' },
      { came: '"Bearer (redacted)"' },
    ],
    ['expiry beyond the skew', { ...claimsV1, exp: now - 300 }, { claim: 'exp', came: `${now - 300}` }],
    ['expiry that is a text', { ...claimsV1, exp: '9999999999' }, { claim: 'exp', came: '"9999999999"' }],
    ['expiry that never comes', { ...claimsV1, exp: Number.POSITIVE_INFINITY }, { claim: 'exp' }],
    ['beginning that is a text', { ...claimsV1, nbf: '0' }, { claim: 'nbf', expected: `not later than ${now}` }],
    ['beginning further ahead', { ...claimsV1, nbf: now + 7_201 }, { claim: 'nbf' }],
  ])('does not accept the %s, and says what is wrong', (_name, claims, fault) => {
    const hosts = { authorityHosts: [...expected.authorityHosts, ...expected.authorityHosts] }
    expect(decideToken(claims, { ...expected, ...hosts }, nowMs)).toMatchObject({ fault })
  })
})

describe('createKeySet', () => {
  /** Keys of a server of the test. Time passes by `advance`, also for jose, which reads the clock itself. */
  async function open(keys: readonly object[], options: { readonly path?: string; readonly timeoutMs?: number } = {}) {
    const server = await openKeySetServer(keys)
    const clock = createManualClock(Date.now())
    vi.spyOn(Date, 'now').mockImplementation(clock.now)
    onTestFinished(() => void vi.restoreAllMocks())
    const { path = '/keys', timeoutMs = 5_000 } = options
    const keySet = createKeySet({
      ...{ url: `${server.authorityHost}${path}`, ca: server.ca, timeoutMs, clock: clock.clock },
      closing: new AbortController().signal,
    })
    return { ...server, ...keySet, advance: clock.advance, fetched: () => server.state.requests.length }
  }
  const proven = { kind: 'proven' }
  const wrongSignature = { kind: 'failing', fault: { reason: 'the signature of its token is wrong' } }
  const unknown = { reason: 'its token is signed by a key that the tenant does not have' }
  const unavailable = (failure: unknown) => ({
    kind: 'unavailable',
    fault: { reason: 'the keys to check its token with cannot be fetched', remedy: expect.anything(), failure },
  })
  const signers = Promise.all([createSigner('one'), createSigner('two')])

  /** Keys that are fetched without trust in the certificate of a test. */
  const openUntrusting = (url: string) =>
    createKeySet({ url, ca: undefined, clock: systemClock, closing: new AbortController().signal })

  it('fetches once for all tokens that come at the same time, and then no more', async () => {
    const [one] = await signers
    const { verify, fetched } = await open([one.jwk])
    const token = await one.sign(claimsV1)
    expect(await Promise.all([verify(token), verify(token), verify(token)])).toEqual([proven, proven, proven])
    expect(await verify(token)).toEqual(proven)
    expect(fetched()).toBe(1)
  })

  it('fetches again for a key it lacks, but not more often than every 30 s, and does not say unknown meanwhile', async () => {
    const [one, two] = await signers
    const { verify, fetched, advance, state } = await open([one.jwk])
    await verify(await one.sign(claimsV1))
    state.body = JSON.stringify({ keys: [one.jwk, two.jwk] })
    expect(await verify(await two.sign(claimsV1))).toEqual({ kind: 'unavailable', fault: unknown })
    expect(fetched()).toBe(1)
    advance(30_000)
    expect(await verify(await two.sign(claimsV1))).toEqual(proven)
    expect(fetched()).toBe(2)
  })

  it('finds a token invalid where its signature or its form is wrong', async () => {
    const [one, two] = await signers
    const { verify } = await open([one.jwk])
    const [head, claims] = (await one.sign(claimsV1)).split('.')
    const [, , signature] = (await two.sign(claimsV1)).split('.')
    expect(await verify(`${head}.${claims}.${signature}`)).toEqual(wrongSignature)
    expect(await verify('a.b.c')).toEqual(wrongSignature)
  })

  it('says that a key is unknown when the issuer has just been asked', async () => {
    const [one, two] = await signers
    const { verify } = await open([one.jwk])
    expect(await verify(await two.sign(claimsV1))).toEqual({ kind: 'failing', fault: unknown })
  })

  it('fetches keys of over twelve hours again before it uses them', async () => {
    const [one, two] = await signers
    const { verify, advance, state } = await open([one.jwk])
    expect(await verify(await one.sign(claimsV1))).toEqual(proven)
    advance(12 * 60 * 60_000)
    state.body = JSON.stringify({ keys: [two.jwk] })
    expect(await verify(await one.sign(claimsV1))).not.toEqual(proven)
    expect(await verify(await two.sign(claimsV1))).toEqual(proven)
  })

  it.each([
    { name: 'broken', key: { kty: 'RSA', n: '!', e: 'AQAB' } },
    { name: 'of another type', key: { kty: 'EC', crv: 'P-256', x: 'AA', y: 'AA' } },
    { name: 'for encryption', key: { use: 'enc' } },
    {
      name: 'too short',
      key: generateKeyPairSync('rsa', { modulusLength: 1_024 }).publicKey.export({ format: 'jwk' }),
    },
  ])('takes no token by a key that is $name, and others as before', async ({ key }) => {
    const [one, two] = await signers
    const { verify } = await open([{ ...two.jwk, ...key }, one.jwk])
    expect(await verify(await two.sign(claimsV1))).toMatchObject({ fault: unknown })
    expect(await verify(await one.sign(claimsV1))).toEqual(proven)
  })

  it('trusts the certificate it is given, and no other', async () => {
    const [one] = await signers
    const { verify } = openUntrusting(`${(await open([one.jwk])).authorityHost}/keys`)
    expect(await verify(await one.sign(claimsV1))).toEqual(unavailable('UNABLE_TO_VERIFY_LEAF_SIGNATURE'))
  })

  it('follows no redirect', async () => {
    const [one] = await signers
    const { verify, state } = await open([one.jwk], { path: '/moved' })
    expect(await verify(await one.sign(claimsV1))).toEqual(unavailable('HTTP status 302'))
    expect(state.requests).toEqual(['/moved'])
  })

  const noKeys = 'an answer without keys'
  it.each<[name: string, answer: { status?: number; body?: string }, reason: string]>([
    ['an error', { status: 503 }, 'HTTP status 503'],
    ['the page of a proxy', { body: '<html>sign in</html>' }, 'SyntaxError'],
    ['no keys', { body: '{"keys":[]}' }, noKeys],
    ['keys that are no list', { body: '{"keys":7}' }, noKeys],
    ['a list of no keys', { body: '{"keys":[7,{"kty":"RSA"}]}' }, noKeys],
    ['a list', { body: '[]' }, noKeys],
    ['an answer that is too long', { body: ' '.repeat(262_145) }, 'ANSWER_TOO_LONG'],
  ])('says why there are no keys: %s', async (_name, answer, reason) => {
    const [one, two] = await signers
    const { verify, state, advance, fetched } = await open([one.jwk])
    const { status, body } = state
    Object.assign(state, answer)
    expect(await verify(await one.sign(claimsV1))).toEqual(unavailable(expect.stringContaining(reason)))
    // While it waits before it asks again, the reason is still the first.
    advance(29_999)
    expect(await verify(await one.sign(claimsV1))).toEqual(unavailable(expect.stringContaining(reason)))
    expect(fetched()).toBe(1)
    Object.assign(state, { status, body })
    advance(1)
    expect(await verify(await one.sign(claimsV1))).toEqual(proven)
    expect(await verify(await two.sign(claimsV1))).toEqual({ kind: 'unavailable', fault: unknown })
  })

  it('says why there are no keys: nobody listens', async () => {
    const [one] = await signers
    const { verify } = openUntrusting(`https://127.0.0.1:${await freePort()}/keys`)
    expect(await verify(await one.sign(claimsV1))).toEqual(unavailable('ECONNREFUSED'))
  })

  it.each([
    { name: 'no answer comes', status: 0, path: '/keys' },
    { name: 'the answer has no end', status: 200, path: '/endless' },
  ])('gives up when $name in time', async ({ status, path }) => {
    const [one] = await signers
    const { verify, state } = await open([one.jwk], { path, timeoutMs: 200 })
    state.status = status
    const failure = expect.stringMatching(/^(TimeoutError|AbortError|ABORT_ERR)$/)
    expect(await verify(await one.sign(claimsV1))).toEqual(unavailable(failure))
    await eventually(() => expect(state.cutOff).toBe(state.requests.length))
  })
})

describe('createEntraCheck', () => {
  /** A token that is not signed. */
  const tokenOf = (...parts: readonly object[]) =>
    `Bearer ${parts.map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')}.x`

  async function open(evidence: Evidence = { kind: 'proven' }) {
    const signer = await createSigner('one')
    let asked = 0
    const verify = async () => {
      asked++
      return evidence
    }
    const clock = createManualClock(nowMs)
    const check = createEntraCheck({ expected, keys: { verify }, clock: clock.clock })
    return { signer, clock, check, asked: () => asked }
  }

  it('takes a token once verified without a promise until it expires', async () => {
    const { signer, clock, check, asked } = await open()
    const authorization = `Bearer ${await signer.sign(claimsV1)}`
    expect(await check(authorization)).toEqual({ kind: 'proven' })
    expect(check(authorization)).toEqual({ kind: 'proven' })
    expect(asked()).toBe(1)
    clock.advance(86_400_000 - 1)
    expect(check(authorization)).toEqual({ kind: 'proven' })
    clock.advance(1)
    expect(check(authorization)).toBeInstanceOf(Promise)
    clock.advance(300_000)
    expect(await check(authorization)).toMatchObject({ kind: 'failing' })
  })

  it('remembers 1,000 verified tokens, and forgets the oldest first', async () => {
    const { check } = await open()
    const tokens = Array.from({ length: 1_001 }, (_, jti) =>
      tokenOf({ alg: 'RS256', kid: 'one' }, { ...claimsV1, jti }),
    )
    for (const token of tokens) expect(await check(token)).toEqual({ kind: 'proven' })
    expect(check(tokens[1])).toEqual({ kind: 'proven' })
    expect(check(tokens[0])).toBeInstanceOf(Promise)
  })

  it('takes a signature for what the keys say, and asks them again', async () => {
    const evidence = { kind: 'failing', fault: { reason: 'of the keys' } } as const
    const { signer, check, asked } = await open(evidence)
    const authorization = `bearer  ${await signer.sign(claimsV1)} `
    expect([await check(authorization), await check(authorization)]).toEqual([evidence, evidence])
    expect(asked()).toBe(2)
  })

  it('takes no token that names another algorithm or no key, and asks for none', async () => {
    const { check, asked } = await open()
    for (const header of [{ alg: 'HS256', kid: 'one' }, { alg: 'RS256' }, { alg: 'RS256', kid: 7 }, { kid: 'one' }])
      expect(await check(tokenOf(header, claimsV1))).toMatchObject({
        kind: 'failing',
        fault: { reason: expect.stringContaining('RS256') },
      })
    expect(asked()).toBe(0)
  })

  it('asks for no key when the claims already fail', async () => {
    const { signer, check, asked } = await open()
    expect(await check(`Bearer ${await signer.sign({ ...claimsV1, aud: 'x' })}`)).toMatchObject({ kind: 'failing' })
    expect(asked()).toBe(0)
  })

  it.each([undefined, '', 'Bearer', 'Bearer  ', 'Basic eDp5'])('sees no credential in %j', async (authorization) => {
    const { check } = await open()
    expect(await check(authorization)).toEqual({ kind: 'absent' })
  })
})

describe('a delivery under entra', () => {
  const deliveryAuthentication = { kind: 'entra', tenantId, clientId, eventGridClientId } as const

  async function open(writtenAt: number | undefined = 0, keySetTimeoutMs = 5_000) {
    const signer = await createSigner('one')
    const server = await openKeySetServer([signer.jwk])
    const clock = createManualClock(nowMs)
    let reported = 0
    const opened = await openListener({
      input: { deliveryAuthentication },
      endpoints: { authorityHost: `${server.authorityHost}/`, ca: server.ca },
      keySetTimeoutMs,
      clock: clock.clock,
      subscriptionWrittenAt: () => writtenAt,
      onForeignDelivery: () => reported++,
    })
    const deliver = (authorization: string | undefined, subscription = 'ORDERS') =>
      opened.deliver(cloudEventText('1'), { authorization, 'aeg-subscription-name': subscription })
    return { ...opened, signer, server, clock, deliver, reported: () => reported }
  }

  it('is taken with a token of Event Grid, whose keys come from the authority host', async () => {
    const { deliver, signer, server, events } = await open()
    expect((await deliver(`Bearer ${await signer.sign(claimsV1)}`)).status).toBe(200)
    expect((await deliver(`bearer ${await signer.sign(claimsV2)}`)).status).toBe(200)
    const ofHost = await signer.sign({ ...claimsV2, iss: `${server.authorityHost}/${tenantId}/v2.0` })
    expect((await deliver(`Bearer ${ofHost}`)).status).toBe(200)
    expect(server.state.requests).toEqual([`/${tenantId}/discovery/v2.0/keys`])
    expect(events[0]?.metadata).not.toHaveProperty('authorization')
  })

  it('with the delivery token alone is 503 for our subscription, which is then read again, and 401 for another', async () => {
    quickenTime()
    const { deliver, reported } = await open()
    expect((await deliver(undefined)).status).toBe(503)
    expect((await deliver(undefined, 'INVOICES')).status).toBe(401)
    expect(reported()).toBe(1)
  })

  it('that is not accepted is put off for ten minutes after a write, though somebody sets the clock forward', async () => {
    const { deliver, clock, signer } = await open()
    const wrong = `Bearer ${await signer.sign({ ...claimsV1, aud: 'api://other' })}`
    clock.setForward(600_000)
    expect((await deliver(wrong)).status).toBe(503)
    clock.advance(600_000)
    expect((await deliver(wrong)).status).toBe(401)
  })

  it('that is not accepted is told in the log by its reason', async () => {
    const { deliver, clock, signer, log } = await open()
    const wrong = `Bearer ${await signer.sign({ ...claimsV1, aud: 'api://other' })}`
    clock.advance(600_000)
    expect((await deliver(wrong, 'INVOICES')).status).toBe(401)
    for (let time = 0; time < 3; time++) expect((await deliver(wrong)).status).toBe(401)
    expect((await deliver('Bearer not.a.token')).status).toBe(401)
    const refusal = 'refused a delivery: its credential is missing or wrong'
    const lines = log.lines.filter(({ message }) => message === refusal)
    // One line for each reason, however many deliveries.
    expect(lines.map(({ fields }) => [fields?.claim, fields?.came, fields?.remedy])).toEqual([
      ['aud', '"api://other"', expect.stringContaining('correct clientId')],
      [undefined, undefined, undefined],
    ])
    expect(log.text()).not.toContain(wrong.slice(7))
    expect((await deliver(`Bearer ${await signer.sign(claimsV1)}`)).status).toBe(200)
  })

  it('leaves no fetch of keys behind when the listener closes', async () => {
    quickenTime()
    const { deliver, signer, server, listener } = await open(-600_000, 600_000)
    server.state.status = 0
    const answer = deliver(`Bearer ${await signer.sign(claimsV1)}`).catch((error: unknown) => error)
    await eventually(() => expect(server.state.requests).toHaveLength(1))
    await listener.close()
    await eventually(() => expect(server.state.cutOff).toBe(1))
    expect(await answer).toMatchObject({ status: 503 })
  })

  it('is 503 while keys cannot be fetched, and taken once they can', async () => {
    const { deliver, signer, server, clock, log } = await open(-600_000)
    server.state.status = 500
    const authorization = `Bearer ${await signer.sign(claimsV1)}`
    const answer = await deliver(authorization)
    expect(answer.status).toBe(503)
    expect(answer.headers.get('retry-after')).toBe('30')
    const fields = expect.objectContaining({ failure: 'HTTP status 500' })
    const message = 'put off a delivery: the keys to check its token with are not there'
    expect(log.lines).toContainEqual({ level: 'warn', message, fields })
    expect(log.text()).not.toContain(authorization.slice(7))
    server.state.status = 200
    clock.advance(30_000)
    expect((await deliver(authorization)).status).toBe(200)
  })
})
