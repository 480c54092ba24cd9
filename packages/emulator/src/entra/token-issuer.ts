/** Which claims a token has, how long and by which key the token is good, and which tokens the emulator takes. */
import { createPrivateKey, createPublicKey, generateKeyPair, type KeyObject, randomBytes } from 'node:crypto'
import { promisify } from 'node:util'
import { exportJWK, errors as joseErrors, jwtVerify, SignJWT } from 'jose'
import type { Client } from '../model/resources/resource.ts'
import type { Clock } from '../model/time/clock.ts'
import { dotNetTime } from '../model/wording.ts'
import { type PersistedValues, valuesInMemory } from '../state/persisted-values.ts'

/** Event Grid's own application in the public cloud (Event Grid: secure-webhook-delivery). */
export const eventGridClientId = '4962773b-9cdb-44cf-a8bf-237846a00ab7'

/** Keys published after rotations, newest first. Entra too publishes former keys for a while. */
const maxPublishedKeys = 3
const deliveryLifetimeSeconds = 86_700

/**
 * Entra's issuer in tokens of either version. It names the cloud, not the host that served
 * the token, so it can't be configured.
 */
export const issuerOf = (tenantId: string, version: '1.0' | '2.0') =>
  version === '1.0' ? `https://sts.windows.net/${tenantId}/` : `https://login.microsoftonline.com/${tenantId}/v2.0`

/** Who a token is for. */
type Caller = Pick<Client, 'tenantId' | 'clientId' | 'objectId'>

export interface ClientTokenRequest extends Caller {
  /** @default `secret` */
  readonly provedBy?: 'secret' | 'assertion'
  /** The resource it is meant for. */
  readonly audience: string
  readonly lifetimeSeconds: number
}

export interface VerifiedToken extends Caller {
  readonly roles: readonly string[]
}

export type TokenVerdict =
  | { readonly token: VerifiedToken }
  | { readonly problem: 'missing' | 'expired' | 'invalid-audience' | 'invalid'; readonly message: string }

export type AssertionVerdict = { readonly subject: string } | { readonly problem: 'expired' | 'invalid' }

export interface DeliveryTokenRequest {
  readonly tenantId: string
  /** Client id or application id URI in the event subscription. */
  readonly audience: string
  readonly version?: '1.0' | '2.0'
}

interface SigningKey {
  readonly id: string
  readonly privateKey: KeyObject
  readonly publicKey: KeyObject
}

export type TokenIssuer = ReturnType<typeof createTokenIssuer>

/**
 * The emulated Entra's keys and tokens. The first key is made in the background, as it takes longer than a server's start.
 * @param persisted where signing keys are persisted. @default in memory
 */
export function createTokenIssuer(clock: Clock, persisted: PersistedValues = valuesInMemory()) {
  const known = persisted.get('identity', 'signing keys')
  let keys: Promise<readonly SigningKey[]> =
    known === undefined ? createFirstKey().then((key) => persist([key])) : Promise.resolve(readKeys(known))
  // A key that can't be persisted is reported to each caller that needs it.
  keys.catch(() => {})
  // Higher than any number of an earlier run with the same keys, so that `expireTokens` can tell old tokens from new.
  let issued = clock.now()
  let expiredBelow = 0

  function persist(signingKeys: readonly SigningKey[]): readonly SigningKey[] {
    persisted.put('identity', 'signing keys', writeKeys(signingKeys))
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
    /** A token for an authenticated client (v1, as ARM's and Event Grid's are). */
    issueClientToken: (request: ClientTokenRequest) => sign(clientClaims(request), request.lifetimeSeconds),

    /** The bearer token of an Entra-secured delivery, signed by the current key. It lasts 24 h 5 min by the emulator's clock. */
    issueDeliveryToken: (request: DeliveryTokenRequest) => sign(deliveryClaims(request), deliveryLifetimeSeconds),

    /** What a client presents in place of a secret, as a workload identity does: for an hour by the emulator's clock. */
    issueAssertion: (clientId: string) =>
      sign({ iss: assertionIssuer, sub: clientId, aud: assertionAudience }, assertionLifetimeSeconds),

    /** Checks an assertion of `issueAssertion`. */
    async verifyAssertion(assertion: string): Promise<AssertionVerdict> {
      const known = await keys
      try {
        const { payload } = await jwtVerify(assertion, keyOf(known), {
          algorithms: ['RS256'],
          currentDate: new Date(clock.now()),
          issuer: assertionIssuer,
          audience: assertionAudience,
          requiredClaims: ['exp', 'sub'],
        })
        return { subject: String(payload.sub) }
      } catch (error) {
        return { problem: error instanceof joseErrors.JWTExpired ? 'expired' : 'invalid' }
      }
    },

    /** Checks a token that this emulator issued. `audience` may be given with or without a trailing slash. */
    async verifyToken(
      bearer: string | undefined,
      { audience }: { readonly audience: string | readonly string[] },
    ): Promise<TokenVerdict> {
      if (!bearer) return { problem: 'missing', message: 'The access token is missing.' }
      const known = await keys
      try {
        const { payload } = await jwtVerify(bearer, keyOf(known), {
          algorithms: ['RS256'],
          currentDate: new Date(clock.now()),
          requiredClaims: ['exp', 'aud', 'tid', 'oid'],
        })
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

    /** The public keys, as the key endpoint shows them for a tenant. */
    async keySet(issuer?: string): Promise<{ keys: Readonly<Record<string, unknown>>[] }> {
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

    /** Signs with a new key from now on. The former keys stay published, or with `forget` become invalid. */
    async rotateKeys({ forget = false }: { readonly forget?: boolean } = {}): Promise<void> {
      const former = keys
      const rotated = createKey().then(async (key) =>
        persist([key, ...(forget ? [] : (await former).slice(0, maxPublishedKeys - 1))]),
      )
      // A key that can't be persisted is told to the caller. The former keys go on.
      keys = rotated.catch(() => former)
      keys.catch(() => {})
      await rotated
    },

    /** Makes every token issued so far count as expired at the emulator. */
    expireTokens: () => {
      expiredBelow = issued
    },
  }
}

function clientClaims({ tenantId, clientId, objectId, audience, provedBy = 'secret' }: ClientTokenRequest) {
  const issuer = issuerOf(tenantId, '1.0')
  const application = { appid: clientId, appidacr: provedBy === 'secret' ? '1' : '2', idp: issuer, idtyp: 'app' }
  return { aud: audience, iss: issuer, ...application, oid: objectId, sub: objectId, tid: tenantId, ver: '1.0' }
}

function deliveryClaims({ tenantId, audience, version = '1.0' }: DeliveryTokenRequest) {
  const caller =
    version === '1.0'
      ? { appid: eventGridClientId, appidacr: '2', idp: issuerOf(tenantId, '1.0') }
      : { azp: eventGridClientId, azpacr: '2' }
  const principal = { oid: eventGridPrincipal, sub: eventGridPrincipal, tid: tenantId }
  return { aud: audience, iss: issuerOf(tenantId, version), ...caller, ...principal, ver: version }
}

/** The audience that federated credentials of Entra have (Entra: workload-identity-federation). */
const assertionAudience = 'api://AzureADTokenExchange'
const assertionIssuer = 'urn:eventgrid-emulator'
const assertionLifetimeSeconds = 3_600

const keyOf =
  (known: readonly SigningKey[]) =>
  ({ kid }: { readonly kid?: string | undefined }): KeyObject => {
    const key = known.find(({ id }) => id === kid)
    if (!key) throw new Error('The token is signed by an unknown key.')
    return key.publicKey
  }

/** An arbitrary id: in Azure it is the service principal of Event Grid in the webhook's tenant. */
const eventGridPrincipal = '44444444-4444-4444-8444-444444444444'

const generate = promisify(generateKeyPair)
const createPair = () => generate('rsa', { modulusLength: 2048 })

let firstPair: ReturnType<typeof createPair> | undefined

async function createKey(pair = createPair()): Promise<SigningKey> {
  return { id: randomBytes(20).toString('base64url'), ...(await pair) }
}

/**
 * The first key of each emulator of a process: the pair takes most of the time of a start. Its id is each emulator's own, so that none
 * takes the tokens of another.
 */
function createFirstKey(): Promise<SigningKey> {
  firstPair ??= createPair()
  return createKey(firstPair)
}

function writeKeys(keys: readonly SigningKey[]): string {
  return JSON.stringify(
    keys.map(({ id, privateKey }) => ({ id, key: privateKey.export({ type: 'pkcs8', format: 'pem' }) })),
  )
}

function readKeys(text: string): readonly SigningKey[] {
  const written: { id: string; key: string }[] = JSON.parse(text)
  return written.map(({ id, key }) => {
    const privateKey = createPrivateKey(key)
    return { id, privateKey, publicKey: createPublicKey(privateKey) }
  })
}

const withoutSlash = (text: string) => text.replace(/(?<!\/)\/+$/, '').toLowerCase()

function expiredMessage(expiry: number | undefined, now: number): string {
  const end = dotNetTime((expiry ?? 0) * 1000)
  return `The access token expiry UTC time '${end}' is earlier than current UTC time '${dotNetTime(now)}'.`
}
