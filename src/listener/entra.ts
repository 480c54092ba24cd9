/** Whether the Entra token of a delivery is accepted: by its claims, then by its signature, with keys that are fetched and kept. */
import { hash } from 'node:crypto'
import { createPipelineRequest } from '@azure/core-rest-pipeline'
import { compactVerify, createRemoteJWKSet, customFetch, decodeJwt, decodeProtectedHeader, errors } from 'jose'
import { createSendOnce, createTrustPolicy } from '../azure/http.ts'
import { scrub } from '../core/scrub.ts'
import { codeOf, nameOf } from '../support/process/error-code.ts'
import { isRecord } from '../support/text/json-text.ts'
import { cut } from '../support/text/text.ts'
import { type SteadyClock, withLimit } from '../support/time/clock.ts'
import { keepNewest } from '../support/work/work.ts'
import type { CredentialFault, Evidence } from './log-events.ts'

export interface EntraCheckOptions {
  readonly expected: ExpectedToken
  readonly keys: KeySet
  readonly clock: Pick<SteadyClock, 'now'>
}

/** Verified tokens that are remembered until they expire. */
const maxVerified = 1_000

/** Makes a check of an `Authorization` header. The check gives no promise where the token was verified before. */
export function createEntraCheck({ expected, keys, clock }: EntraCheckOptions) {
  // Hashes, not tokens: a token that could be presented again does not stay in memory.
  const verified = new Map<string, number>()

  async function verify(token: string, digest: string): Promise<Evidence> {
    // Claims first: a token for somebody else then costs no signature check and no fetch of keys.
    const decision = decideToken(readClaims(token), expected, clock.now())
    if ('fault' in decision) return { kind: 'failing', fault: decision.fault }
    const evidence = await keys.verify(token)
    if (evidence.kind === 'proven') keepNewest(verified, digest, decision.expiresAt, maxVerified)
    return evidence
  }

  return (authorization: string | undefined): Evidence | Promise<Evidence> => {
    const token = bearerToken(authorization)
    if (token === undefined) return { kind: 'absent' }
    const digest = hash('sha256', token, 'base64')
    const expiresAt = verified.get(digest)
    if (expiresAt !== undefined && clock.now() < expiresAt) return { kind: 'proven' }
    return verify(token, digest)
  }
}

function bearerToken(authorization: string | undefined): string | undefined {
  if (authorization === undefined || authorization.slice(0, 7).toLowerCase() !== 'bearer ') return undefined
  return authorization.slice(7).trim() || undefined
}

/** The claims of an RS256 token that names its key; undefined for anything else. */
function readClaims(token: string): unknown {
  try {
    const { alg, kid } = decodeProtectedHeader(token)
    return alg === 'RS256' && typeof kid === 'string' ? decodeJwt(token) : undefined
  } catch {
    return undefined
  }
}

/** What a token of Event Grid's Entra-secured delivery must say. */
export interface ExpectedToken {
  readonly tenantId: string
  /** The application that deliveries are for: the subscription's `azureActiveDirectoryApplicationIdOrUri`. */
  readonly clientId: string
  /** Event Grid's own application in the cloud. */
  readonly eventGridClientId: string
  /** `subscriberEndpoint`; its query plays no part. */
  readonly subscriberEndpoint: string
  /** Host of the issuer of v1 tokens. */
  readonly issuerHostV1: string
  /** Issuers of v2 tokens, without the tenant. */
  readonly authorityHosts: readonly string[]
}

/** Accepted until `expiresAt` (epoch milliseconds), or refused with what is wrong. */
type TokenDecision = { readonly expiresAt: number } | { readonly fault: CredentialFault }

const skewMs = 5 * 60_000

/** How long before its `nbf` a token is accepted. Such a token only shows that our clock is behind, and a refusal would lose the event. */
const earlyMs = 2 * 60 * 60_000

/** Decides on the claims of a token, not its signature. Versions 1 and 2 differ in the issuer and in `appid` or `azp`. */
export function decideToken(claims: unknown, expected: ExpectedToken, now: number): TokenDecision {
  if (!isRecord(claims)) return { fault: { reason: 'its token is not one that Entra signed with RS256' } }
  const { iss, tid, aud, exp, nbf, appid, azp } = claims
  const caller = appid === undefined ? 'azp' : 'appid'
  const wanted: readonly [claim: string, came: unknown, accepted: readonly string[], remedy: string][] = [
    ['iss', iss, issuers(expected), 'correct tenantId or azureEnvironment'],
    ['tid', tid, [expected.tenantId], 'correct tenantId'],
    [
      caller,
      appid ?? azp,
      [expected.eventGridClientId],
      'if it is Event Grid in your cloud, set eventGridClientId to it',
    ],
    ['aud', aud, acceptedAudiences(expected), otherAudience],
  ]
  for (const [claim, came, accepted, remedy] of wanted) {
    if (![came].flat().some((one) => matches(one, accepted)))
      return wrongClaim(claim, came, accepted.join(' or '), remedy)
  }
  const second = Math.floor(now / 1_000)
  if (typeof exp !== 'number' || !Number.isFinite(exp) || now >= exp * 1_000 + skewMs)
    return wrongClaim('exp', exp, `later than ${second}`, lookAtClock)
  if (nbf !== undefined && !(typeof nbf === 'number' && now >= nbf * 1_000 - earlyMs))
    return wrongClaim('nbf', nbf, `not later than ${second}`, lookAtClock)
  return { expiresAt: exp * 1_000 }
}

const otherAudience = 'correct clientId, or azureActiveDirectoryApplicationIdOrUri of the event subscription'
const lookAtClock = 'look at the clock of this machine'

/** Longest text of a claim that is shown. Anybody may have written the token. */
const maxShown = 200

function wrongClaim(claim: string, came: unknown, expected: string, remedy: string): TokenDecision {
  const shown = cut(scrub(JSON.stringify(came) ?? 'nothing'), maxShown)
  return { fault: { reason: `the claim ${claim} of its token is not accepted`, claim, expected, came: shown, remedy } }
}

function issuers({ tenantId, issuerHostV1, authorityHosts }: ExpectedToken): readonly string[] {
  const v2 = authorityHosts.map((host) => `${host}/${tenantId}/v2.0`)
  return [...new Set([`https://${issuerHostV1}/${tenantId}/`, ...v2])]
}

function acceptedAudiences({ clientId, subscriberEndpoint }: ExpectedToken): readonly string[] {
  const { origin, pathname } = new URL(subscriberEndpoint)
  return [clientId, `api://${clientId}`, `${origin}${pathname}`]
}

/** Compares without case, as ids and hosts are. */
function matches(value: unknown, accepted: readonly string[]): boolean {
  return typeof value === 'string' && accepted.some((one) => one.toLowerCase() === value.toLowerCase())
}

/** The signing keys of the tenant. */
export type KeySet = ReturnType<typeof createKeySet>

export interface KeySetOptions {
  /** https address of the key set. */
  readonly url: string
  /** Certificates (PEM) to trust beside Node's own. */
  readonly ca: string | undefined
  /** Longest wait for the whole answer, in milliseconds. @default 5_000 */
  readonly timeoutMs?: number | undefined
  /** Ends a fetch under way. */
  readonly closing: AbortSignal
  readonly clock: Pick<SteadyClock, 'elapsed'>
}

/** Entra's set has a few kilobytes. */
const maxBytes = 262_144
/** Shortest time between two fetches, so that strange tokens cause no storm. */
const cooldownMs = 30_000
/** A set that is older is fetched again before it is used. */
const maxAgeMs = 12 * 60 * 60_000

/** Fetches the keys with jose, which asks again for unknown key ids, and checks signatures with them. */
export function createKeySet(options: KeySetOptions) {
  const { url, timeoutMs = 5_000, closing, clock } = options
  const send = connect(options)
  let fetched = 0
  let askedAt = Number.NEGATIVE_INFINITY
  /** Why the last fetch failed; `undefined` where it did not. */
  let failure: string | undefined

  async function fetchKeys(): Promise<Response> {
    // jose has no cooldown after a fetch that failed, or that gave something else than keys.
    if (clock.elapsed() - askedAt < cooldownMs) throw new Error('the last fetch was less than 30 s ago')
    askedAt = clock.elapsed()
    try {
      const { status, bodyAsText } = await withLimit({ ms: timeoutMs, signal: closing }, send)
      if (status !== 200) throw Object.assign(new Error('no keys came'), { code: `HTTP status ${status}` })
      const set: unknown = JSON.parse(bodyAsText ?? '')
      if (!holdsKey(set)) throw Object.assign(new Error('no keys came'), { code: 'an answer without keys' })
      const answer = Response.json(set)
      fetched++
      failure = undefined
      return answer
    } catch (error) {
      // The message of a foreign error may hold anything.
      failure = codeOf(error) ?? nameOf(error)
      throw error
    }
  }

  const keys = createRemoteJWKSet(new URL(url), {
    cooldownDuration: cooldownMs,
    cacheMaxAge: maxAgeMs,
    [customFetch]: fetchKeys,
  })
  return {
    /** Checks the RS256 signature of a token, whose claims were accepted. */
    async verify(token: string): Promise<Evidence> {
      const before = fetched
      try {
        await compactVerify(token, keys, { algorithms: ['RS256'] })
        return { kind: 'proven' }
      } catch (error) {
        if (faultsOfToken.has(codeOf(error))) return { kind: 'failing', fault: wrongSignature }
        // The key may be newer than our set: it is unknown only if the set was fetched after the token came.
        if (error instanceof errors.JWKSNoMatchingKey && fetched > before) return { kind: 'failing', fault: unknownKey }
        return { kind: 'unavailable', fault: failure === undefined ? unknownKey : { ...noKeys, failure } }
      }
    },
  }
}

const wrongSignature = { reason: 'the signature of its token is wrong' }
const unknownKey = { reason: 'its token is signed by a key that the tenant does not have' }
const noKeys = { reason: 'the keys to check its token with cannot be fetched', remedy: 'let this process reach Entra' }

/** Is there a key that could sign? A set without one is an answer of something else than Entra. */
function holdsKey(set: unknown): boolean {
  const keys: readonly unknown[] = isRecord(set) && Array.isArray(set.keys) ? set.keys : []
  return keys.some((key) => isRecord(key) && typeof key.n === 'string')
}

/** All other errors are about the keys. */
const faultsOfToken: ReadonlySet<string | undefined> = new Set([
  'ERR_JWS_SIGNATURE_VERIFICATION_FAILED',
  'ERR_JWS_INVALID',
  'ERR_JOSE_NOT_SUPPORTED',
  'ERR_JOSE_ALG_NOT_ALLOWED',
])

/** Sends as the Azure SDKs do: through the proxy of the environment, and trusting the same certificates. */
function connect({ url, ca }: KeySetOptions) {
  const trust = createTrustPolicy(ca === undefined ? {} : { ca })
  const send = createSendOnce({ connect: trust, answerLimit: { maxBytes, longer: 'fail' } })
  return (abortSignal: AbortSignal) => send(createPipelineRequest({ url, abortSignal, disableKeepAlive: true }))
}
