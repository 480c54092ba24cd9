import { KeyObject, sign } from 'node:crypto'
import { deflateRawSync } from 'node:zlib'
import { CompactEncrypt, exportJWK, exportSPKI, generateKeyPair, type JWTPayload, SignJWT } from 'jose'
import { beforeAll, describe, expect, it } from 'vitest'
import { openKeySetServer } from '../listener/key-set-server.ts'
import { cloudEventText, openListener } from '../listener/open-listener.ts'
import { processorMs } from '../support/processor-time.ts'
import { quickenTime } from '../support/quick-time.ts'
import { skipTime } from '../support/skipped-time.ts'
import { expectNoEffect, openTarget, useEmulator } from './target.ts'

const world = useEmulator()
const eventGrid = '4962773b-9cdb-44cf-a8bf-237846a00ab7'
const seconds = () => Math.floor(Date.now() / 1_000)

let signer: Awaited<ReturnType<typeof openSigner>>
let stranger: Awaited<ReturnType<typeof openSigner>>
beforeAll(async () => {
  signer = await openSigner()
  stranger = await openSigner()
})

/** A key called `genuine`; which of two is, the key set says. */
async function openSigner() {
  const { publicKey, privateKey } = await generateKeyPair('RS256', { extractable: true })
  return {
    jwk: { ...(await exportJWK(publicKey)), kid: 'genuine', use: 'sig' },
    pem: await exportSPKI(publicKey),
    sign: (payload: JWTPayload, header: object = {}) =>
      new SignJWT(payload).setProtectedHeader({ alg: 'RS256', kid: 'genuine', typ: 'JWT', ...header }).sign(privateKey),
    /** Signs whatever it is given, as no library would. */
    signRaw(header: object, payload: Uint8Array) {
      const text = `${base64url({ alg: 'RS256', kid: 'genuine', ...header })}.${Buffer.from(payload).toString('base64url')}`
      return `${text}.${sign('RSA-SHA256', Buffer.from(text), KeyObject.from(privateKey)).toString('base64url')}`
    },
  }
}

/** The claims of a token that Event Grid would send. */
function claims(more: object = {}) {
  const { tenantId, clientId } = world().emulator
  return {
    iss: `https://sts.windows.net/${tenantId}/`,
    aud: clientId,
    tid: tenantId,
    appid: eventGrid,
    ver: '1.0',
    nbf: seconds() - 300,
    exp: seconds() + 86_400,
    ...more,
  }
}

/** A binding under `entra` with an event subscription. `later` lets ten minutes pass; then a failing token is answered 401. */
async function openEntra(keys: readonly object[] = [signer.jwk]) {
  const skip = skipTime()
  const server = await openKeySetServer(keys)
  const options = { fields: { deliveryAuthentication: 'entra' }, endpoints: server, standing: true }
  const target = await openTarget(world(), options)
  return { server, target, later: () => skip(600_001) }
}

const keyAddress = { jku: 'http://127.0.0.1:9/keys', x5u: 'http://127.0.0.1:9/certificate' }
const base64url = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
const bytes = (value: unknown) => Buffer.from(JSON.stringify(value))

describe('a delivery under entra', () => {
  it('with a token of Event Grid is handled, so that the rows below fail for their own reason', async () => {
    const { target } = await openEntra()
    for (const token of [await signer.sign(claims()), signer.signRaw({}, bytes(claims()))]) {
      expect((await target.post({ authorization: `Bearer ${token}` })).status).toBe(200)
    }
    expect(target.handled).toHaveLength(2)
  })

  const unsigned = () => `${base64url({ alg: 'none', kid: 'genuine' })}.${base64url(claims())}`
  const encrypted = async () => {
    const header = { alg: 'RSA-OAEP-256', enc: 'A256GCM', kid: 'genuine' }
    const { publicKey } = await generateKeyPair('RSA-OAEP-256')
    return new CompactEncrypt(bytes(claims())).setProtectedHeader(header).encrypt(publicKey)
  }
  const byPublicKey = () =>
    new SignJWT(claims()).setProtectedHeader({ alg: 'HS256', kid: 'genuine' }).sign(Buffer.from(signer.pem))

  it.each<[name: string, token: () => string | Promise<string>]>([
    ['alg none', () => `${unsigned()}.`],
    [
      'alg none and the signature of another token',
      async () => `${unsigned()}.${(await signer.sign(claims())).split('.')[2]}`,
    ],
    ['HS256 with the public key as secret', byPublicKey],
    ['another issuer', () => signer.sign(claims({ iss: 'https://sts.example.com/' }))],
    ['the issuer of another tenant', () => signer.sign(claims({ iss: 'https://sts.windows.net/x/' }))],
    ['another audience', () => signer.sign(claims({ aud: 'https://management.azure.com' }))],
    ['another tenant', () => signer.sign(claims({ tid: '00000000-0000-0000-0000-000000000009' }))],
    ['kid of another key', () => stranger.sign(claims())],
    ['expired', () => signer.sign(claims({ exp: seconds() - 301 }))],
    ['not yet valid', () => signer.sign(claims({ nbf: seconds() + 3 * 3_600 }))],
    ['another application of the tenant', () => signer.sign(claims({ appid: world().emulator.clientId }))],
    ['another application, Event Grid in azp', () => signer.sign(claims({ appid: 'x', azp: eventGrid }))],
    ['claims without an expiry', () => signer.sign(claims({ exp: undefined }))],
    ['an unknown critical header', () => signer.signRaw({ crit: ['x'], x: 1 }, bytes(claims()))],
    ['its own key in the header', () => stranger.sign(claims(), { jwk: stranger.jwk })],
    ['a deflated payload', () => signer.signRaw({ zip: 'DEF' }, deflateRawSync(bytes(claims())))],
    ['encryption in place of a signature', encrypted],
    ['sixty kilobytes', () => stranger.sign(claims({ pad: 'x'.repeat(44_000) }))],
    ['an address to fetch keys from', () => stranger.sign(claims(), keyAddress)],
    ['no dots', () => 'x'.repeat(50_000)],
    ['dots only', () => '.'.repeat(50_000)],
    ['a payload that is no object', () => signer.signRaw({}, bytes([claims()]))],
    ['a prototype key', () => signer.signRaw({}, Buffer.from(`{"__proto__":${JSON.stringify(claims())}}`))],
  ])('%s is answered 503, and 401 once our event subscription has stood for ten minutes', async (_name, token) => {
    const { target, later } = await openEntra()
    const presented = await token()
    const cost = await processorMs(async () => {
      expect((await target.post({ authorization: `Bearer ${presented}` })).status).toBe(503)
      expectNoEffect(target, [presented])
      later()
      expect((await target.post({ authorization: `Bearer ${presented}` })).status).toBe(401)
    })
    expect(target.handled).toEqual([])
    expect(cost).toBeLessThan(2_000)
  })

  it('many unknown kids in a row fetch the keys once', async () => {
    const { target, server } = await openEntra()
    const strangers = Array.from({ length: 50 }, (_, index) => stranger.sign(claims(), { kid: `unknown-${index}` }))
    for (const token of await Promise.all(strangers)) {
      const { status } = await target.post({ authorization: `Bearer ${token}` })
      expect([401, 503]).toContain(status)
    }
    expect(server.state.requests).toHaveLength(1)
    expect(target.handled).toEqual([])
    expect(target.lines().length).toBeLessThanOrEqual(2)
  })

  it.each([
    { name: 'down', status: 500, body: () => '' },
    { name: 'no JSON', status: 200, body: () => '<html>' },
    { name: 'without keys', status: 200, body: () => '{"keys":[]}' },
    { name: 'over 256 KiB', status: 200, body: () => JSON.stringify({ keys: [signer.jwk], pad: 'x'.repeat(262_144) }) },
    {
      name: 'full of keys that are none',
      status: 200,
      body: () => JSON.stringify({ keys: Array(5_000).fill({ kty: 'RSA' }) }),
    },
    { name: 'in a prototype key', status: 200, body: () => '{"__proto__":{"keys":[{"kty":"RSA"}]}}' },
  ])('while the key set is $name a delivery is put off with 503, and asks once', async ({ status, body }) => {
    const { target, server } = await openEntra()
    Object.assign(server.state, { status, body: body() })
    const authorization = `Bearer ${await signer.sign(claims())}`
    expect((await target.post({ authorization })).status).toBe(503)
    expect((await target.post({ authorization })).status).toBe(503)
    expect(server.state.requests).toHaveLength(1)
    expect(target.handled).toEqual([])
    expect(target.log.text()).not.toContain(authorization.slice(7))
  })

  it('while the key set is slow a delivery is put off with 503 after its time, and others do not wait longer', async () => {
    quickenTime()
    const { tenantId, clientId } = world().emulator
    const server = await openKeySetServer([signer.jwk])
    server.state.status = 0
    const { deliver, events } = await openListener({
      input: { deliveryAuthentication: { kind: 'entra', tenantId, clientId, eventGridClientId: eventGrid } },
      endpoints: server,
      keySetTimeoutMs: 10_000,
    })
    const authorization = `Bearer ${await signer.sign(claims())}`
    const answers = await Promise.all(Array.from({ length: 20 }, () => deliver(cloudEventText('1'), { authorization })))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([503]))
    expect(server.state.requests).toHaveLength(1)
    expect(events).toEqual([])
  })
})
