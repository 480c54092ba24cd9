import { createPrivateKey, createPublicKey, generateKeyPair, type KeyObject, randomBytes } from 'node:crypto'
import { promisify } from 'node:util'
import { exportJWK, errors as joseErrors, jwtVerify, SignJWT } from 'jose'
import { z } from 'zod'
import type { TokenIssuer, TokenVerdict } from '../context.ts'
import type { Clock } from '../model/clock.ts'

/** Event Grid's own application in the public cloud (Event Grid: secure-webhook-delivery). */
export const eventGridClientId = '4962773b-9cdb-44cf-a8bf-237846a00ab7'

/** Keys that stay published after a rotation, newest first; Entra too keeps the former ones for a while. */
const keysPublished = 3
const deliveryLifetimeSeconds = 86_700

/**
 * Entra's issuer in tokens of either version. It names the cloud, not the host that served
 * the token, so it is no option.
 */
export const issuerOf = (tenantId: string, version: '1.0' | '2.0') =>
  version === '1.0' ? `https://sts.windows.net/${tenantId}/` : `https://login.microsoftonline.com/${tenantId}/v2.0`

/** What a client's token says. */
export interface ClientTokenRequest {
  readonly tenantId: string
  readonly clientId: string
  readonly objectId: string
  /** The resource that it is for. */
  readonly audience: string
  readonly lifetimeSeconds: number
}

/** The emulated Entra's keys and signature. */
export interface SigningTokenIssuer extends TokenIssuer {
  /** A token for a client that has proved itself (v1, as ARM's and Event Grid's are). */
  issueClientToken(request: ClientTokenRequest): Promise<string>
  /** The public keys, as the key endpoint shows them for a tenant. */
  keySet(issuer?: string): Promise<{ keys: Readonly<Record<string, unknown>>[] }>
  /** Signs with a new key from now on. The former keys stay published unless `forget`, which voids all tokens. */
  rotateKeys(options?: { readonly forget?: boolean }): Promise<void>
  /** Every token issued so far counts as expired from now on, here at the emulator. */
  expireTokens(): void
}

interface SigningKey {
  readonly id: string
  readonly privateKey: KeyObject
  readonly publicKey: KeyObject
}

/** Where signing keys outlive the issuer: a text of its own form. */
export interface KeyRing {
  read(): string | undefined
  write(keys: string): void
}

/**
 * Makes the issuer. The first key is made in the background, as it takes longer than a server's start.
 * @param ring @default none
 */
export function createTokenIssuer(clock: Clock, ring?: KeyRing): SigningTokenIssuer {
  const kept = ring?.read()
  let keys: Promise<readonly SigningKey[]> =
    kept === undefined ? createKey().then((key) => keep([key])) : Promise.resolve(readKeys(kept))
  // Begins where no earlier run of the same keys has been, so that `expireTokens` knows old tokens from new ones.
  let issued = clock.now()
  let expiredBelow = 0

  function keep(signingKeys: readonly SigningKey[]): readonly SigningKey[] {
    ring?.write(writeKeys(signingKeys))
    return signingKeys
  }

  const sign = async (claims: Record<string, unknown>, lifetimeSeconds: number) => {
    const [key] = await keys
    if (!key) throw new Error('no signing key')
    const now = Math.floor(clock.now() / 1000)
    return new SignJWT({ ...claims, uti: `${(++issued).toString(36)}.${randomBytes(8).toString('base64url')}` })
      .setProtectedHeader({ typ: 'JWT', alg: 'RS256', x5t: key.id, kid: key.id })
      .setIssuedAt(now)
      .setNotBefore(now)
      .setExpirationTime(now + lifetimeSeconds)
      .sign(key.privateKey)
  }

  return {
    issueClientToken: ({ tenantId, clientId, objectId, audience, lifetimeSeconds }) =>
      sign(
        {
          aud: audience,
          iss: issuerOf(tenantId, '1.0'),
          appid: clientId,
          appidacr: '1',
          idp: issuerOf(tenantId, '1.0'),
          idtyp: 'app',
          oid: objectId,
          sub: objectId,
          tid: tenantId,
          ver: '1.0',
        },
        lifetimeSeconds,
      ),

    issueDeliveryToken: ({ tenantId, audience, version = '1.0' }) => {
      const principal = eventGridPrincipal
      const caller =
        version === '1.0'
          ? { appid: eventGridClientId, appidacr: '2', idp: issuerOf(tenantId, '1.0') }
          : { azp: eventGridClientId, azpacr: '2' }
      const claims = { oid: principal, sub: principal, tid: tenantId, ver: version }
      return sign({ aud: audience, iss: issuerOf(tenantId, version), ...caller, ...claims }, deliveryLifetimeSeconds)
    },

    async verifyToken(bearer, { audience }): Promise<TokenVerdict> {
      if (!bearer) return { problem: 'missing', message: 'The access token is missing.' }
      const known = await keys
      try {
        const { payload } = await jwtVerify(
          bearer,
          ({ kid }) => {
            const key = known.find(({ id }) => id === kid)
            if (!key) throw new Error('The token is signed by an unknown key.')
            return key.publicKey
          },
          { algorithms: ['RS256'], currentDate: new Date(clock.now()), requiredClaims: ['exp', 'aud', 'tid', 'oid'] },
        )
        const sequence = Number.parseInt(String(payload.uti), 36)
        if (sequence <= expiredBelow) return { problem: 'expired', message: expiredMessage(payload.exp, clock.now()) }
        const wanted = typeof audience === 'string' ? [audience] : audience
        const given = String(payload.aud)
        if (!wanted.some((one) => withoutSlash(one) === withoutSlash(given))) {
          return { problem: 'invalid-audience', message: given }
        }
        return {
          token: {
            tenantId: String(payload.tid),
            clientId: String(payload.appid ?? payload.azp),
            objectId: String(payload.oid),
            roles: Array.isArray(payload.roles) ? payload.roles.map(String) : [],
          },
        }
      } catch (error) {
        if (error instanceof joseErrors.JWTExpired) {
          return { problem: 'expired', message: expiredMessage(error.payload.exp, clock.now()) }
        }
        return { problem: 'invalid', message: 'The access token is invalid.' }
      }
    },

    async keySet(issuer) {
      const shown = (await keys).map(async ({ id, publicKey }) => ({
        ...(await exportJWK(publicKey)),
        use: 'sig',
        alg: 'RS256',
        kid: id,
        x5t: id,
        ...(issuer === undefined ? {} : { issuer }),
      }))
      return { keys: await Promise.all(shown) }
    },

    async rotateKeys({ forget = false } = {}) {
      const former = keys
      keys = createKey().then(async (key) => keep([key, ...(forget ? [] : (await former).slice(0, keysPublished - 1))]))
      await keys
    },

    expireTokens: () => {
      expiredBelow = issued
    },
  }
}

/** Any id will do: in Azure it is the service principal of Event Grid in the webhook's tenant. */
const eventGridPrincipal = '44444444-4444-4444-8444-444444444444'

const generate = promisify(generateKeyPair)

async function createKey(): Promise<SigningKey> {
  const { privateKey, publicKey } = await generate('rsa', { modulusLength: 2048 })
  return { id: randomBytes(20).toString('base64url'), privateKey, publicKey }
}

const keysText = z.array(z.object({ id: z.string(), key: z.string() }))

function writeKeys(keys: readonly SigningKey[]): string {
  return JSON.stringify(
    keys.map(({ id, privateKey }) => ({ id, key: privateKey.export({ type: 'pkcs8', format: 'pem' }) })),
  )
}

function readKeys(text: string): readonly SigningKey[] {
  return keysText.parse(JSON.parse(text)).map(({ id, key }) => {
    const privateKey = createPrivateKey(key)
    return { id, privateKey, publicKey: createPublicKey(privateKey) }
  })
}

const withoutSlash = (text: string) => text.replace(/\/+$/, '').toLowerCase()

function expiredMessage(expiry: number | undefined, now: number): string {
  const text = (ms: number) => new Date(ms).toLocaleString('en-US', { timeZone: 'UTC' }).replace(',', '')
  return `The access token expiry UTC time '${text((expiry ?? 0) * 1000)}' is earlier than current UTC time '${text(now)}'.`
}
