/** Whether the Entra token of a delivery is accepted: by its claims, then by its signature, with keys that are fetched and kept. */
import { hash } from 'node:crypto'
import { compactVerify, createRemoteJWKSet, customFetch, decodeJwt, decodeProtectedHeader, errors } from 'jose'
import { createTrustPolicy } from '../azure/http.ts'
import { certificateRemedy, silenceRemedy } from '../azure/refusals/remedies.ts'
import { scrub } from '../core/scrub.ts'
import { codeOf, nameOf } from '../support/process/error-code.ts'
import { isRecord, readJson } from '../support/text/json-text.ts'
import { cut } from '../support/text/text.ts'
import { withLimit } from '../support/time/clock.ts'
import { keepNewest } from '../support/work/work.ts'
import type { CredentialFault, Evidence } from './credential-fault.ts'

export interface EntraCheckOptions {
  readonly expected: ExpectedToken
  readonly keys: KeySet
  /** Epoch milliseconds. */
  readonly now: () => number
  /** Verified tokens that are remembered until they expire. @default 1_000 */
  readonly maxCached?: number
}

/** Makes a check of an `Authorization` header. It gives no promise where the token was verified before. */
export function createEntraCheck({ expected, keys, now, maxCached = 1_000 }: EntraCheckOptions) {
  // Hashes, not tokens: a token that could be presented again does not stay in memory.
  const verified = new Map<string, number>()

  async function verify(token: string, digest: string): Promise<Evidence> {
    // Claims first: a token for somebody else then costs no signature check and no fetch of keys.
    const decision = decideToken(readClaims(token), expected, now())
    if (!decision.accepted) return failing(decision.fault)
    switch (await keys.verify(token)) {
      case 'unavailable':
        return { kind: 'unavailable', fault: unavailable(keys.failure()) }
      case 'unknownKey':
        return failing({ problem: 'unknown_key' })
      case 'invalid':
        return failing({ problem: 'signature' })
      case 'valid':
        keepNewest(verified, digest, decision.expiresAt, maxCached)
        return { kind: 'proven' }
    }
  }

  return (authorization: string | undefined): Evidence | Promise<Evidence> => {
    const token = bearerToken(authorization)
    if (token === undefined) return { kind: 'absent' }
    const digest = hash('sha256', token, 'base64')
    const expiresAt = verified.get(digest)
    if (expiresAt !== undefined && now() < expiresAt) return { kind: 'proven' }
    return verify(token, digest)
  }
}

function failing(fault: CredentialFault): Evidence {
  return { kind: 'failing', fault }
}

/** The set may be there without the key: it was fetched a moment ago, and is not fetched again for each unknown key. */
function unavailable(detail: string | undefined): CredentialFault {
  return detail === undefined ? { problem: 'unknown_key' } : { problem: 'keys_unavailable', detail }
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
export type TokenDecision =
  | { readonly accepted: true; readonly expiresAt: number }
  | { readonly accepted: false; readonly fault: CredentialFault }

const skewMs = 5 * 60_000

/** How long before its time a token is taken: only a clock that is behind sees one from the future, and a refusal would lose the event. */
const earlyMs = 2 * 60 * 60_000

/** Decides on the claims of a token, not its signature. Versions 1 and 2 differ in the issuer and in `appid` or `azp`. */
export function decideToken(claims: unknown, expected: ExpectedToken, now: number): TokenDecision {
  if (!isRecord(claims)) return { accepted: false, fault: { problem: 'format' } }
  const { iss, tid, aud, exp, nbf, appid, azp } = claims
  const issued = issuers(expected)
  if (!matches(iss, issued)) return wrongClaim('issuer', 'iss', issued, iss)
  if (!matches(tid, [expected.tenantId])) return wrongClaim('tenant', 'tid', [expected.tenantId], tid)
  const caller = appid ?? azp
  const callers = [expected.eventGridClientId]
  const callerClaim = appid === undefined && azp !== undefined ? 'azp' : 'appid'
  if (!matches(caller, callers)) return wrongClaim('caller', callerClaim, callers, caller)
  const audience: readonly unknown[] = Array.isArray(aud) ? aud : [aud]
  const audiences = acceptedAudiences(expected)
  if (!audience.some((one) => matches(one, audiences))) return wrongClaim('audience', 'aud', audiences, aud)
  if (typeof exp !== 'number' || !Number.isFinite(exp) || now >= exp * 1_000 + skewMs)
    return wrongClaim('expired', 'exp', [`later than ${timeOf(now)}`], timeClaim(exp))
  if (nbf !== undefined && !(typeof nbf === 'number' && now >= nbf * 1_000 - earlyMs))
    return wrongClaim('not_yet_valid', 'nbf', [`not later than ${timeOf(now)}`], timeClaim(nbf))
  return { accepted: true, expiresAt: exp * 1_000 }
}

function wrongClaim(
  problem: CredentialFault['problem'],
  claim: string,
  accepted: readonly string[],
  came: unknown,
): TokenDecision {
  const shown = shownClaim(came)
  const fault = { problem, claim, expected: accepted.join(' or '), ...(shown !== undefined && { came: shown }) }
  return { accepted: false, fault }
}

/** Longest text of a claim that is shown. Anybody may have written it. */
const maxShown = 200

/** A claim as the operator may see it: on one line, short, and without the query of a URL, which counts as secret. */
function shownClaim(value: unknown): string | undefined {
  if (value === undefined) return undefined
  const texts: readonly unknown[] = Array.isArray(value) ? value.slice(0, 3) : [value]
  return cut(scrub(texts.map(readable).join(', ')), maxShown)
}

function readable(one: unknown): string {
  if (typeof one !== 'string') return `a ${typeof one}`
  return one.length > 1_000 ? `a text of ${one.length} characters` : one
}

const timeOf = (ms: number) => new Date(ms).toISOString()

/** A claim of seconds as a time, where it can be one. */
function timeClaim(seconds: unknown): unknown {
  return typeof seconds === 'number' && Math.abs(seconds) <= 8.64e12 ? timeOf(seconds * 1_000) : seconds
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

/** `unavailable`: the key is not in the set that we have, and the set cannot be fetched now. */
export type SignatureCheck = 'valid' | 'invalid' | 'unknownKey' | 'unavailable'

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
  /** Milliseconds of a monotonic clock. */
  readonly elapsed: () => number
  /** Called for each failed fetch, with the reason: it holds no secret. */
  readonly onFailure: (reason: string) => void
}

/** Entra's set has a few kilobytes. */
const maxBytes = 262_144
/** Time between two fetches for unknown key ids, and after a failed fetch, so that strange tokens cause no storm. */
const cooldownMs = 30_000
/** A set that is older is fetched again before it is used. */
const maxAgeMs = 12 * 60 * 60_000

/** Fetches the keys with jose, which asks again for unknown key ids, and checks signatures with them. */
export function createKeySet(options: KeySetOptions) {
  const { url, timeoutMs = 5_000, closing, elapsed, onFailure } = options
  let connecting: ReturnType<typeof connect> | undefined
  let fetched = 0
  let failedAt = Number.NEGATIVE_INFINITY
  let failure: string | undefined

  async function fetchKeys(): Promise<Response> {
    // jose knows no cooldown after a failure.
    if (elapsed() - failedAt < cooldownMs) throw new Error('the last fetch failed less than 30 s ago')
    try {
      connecting ??= connect(options)
      const send = await connecting
      const { status, bodyAsText } = await withLimit({ ms: timeoutMs, signal: closing }, send)
      if (status !== 200) throw new KeySetError(`it was answered with ${status}`)
      const text = bodyAsText ?? ''
      if (!holdsKey(text))
        throw new KeySetError('the answer holds no usable key: something else than Entra may have answered')
      fetched++
      failure = undefined
      return new Response(text)
    } catch (error) {
      failedAt = elapsed()
      failure = whyNotFetched(error, url, timeoutMs)
      if (!closing.aborted) onFailure(failure)
      throw error
    }
  }

  const keys = createRemoteJWKSet(new URL(url), {
    cooldownDuration: cooldownMs,
    cacheMaxAge: maxAgeMs,
    [customFetch]: fetchKeys,
  })
  return {
    /** Why the last fetch failed; `undefined` where it did not. */
    failure: () => failure,
    /** Checks the RS256 signature of a token. */
    async verify(token: string): Promise<SignatureCheck> {
      const before = fetched
      try {
        await compactVerify(token, keys, { algorithms: ['RS256'] })
        return 'valid'
      } catch (error) {
        if (faultsOfToken.has(codeOf(error))) return 'invalid'
        // The key may be newer than our set: it is unknown only if the set was fetched after the token came.
        return error instanceof errors.JWKSNoMatchingKey && fetched > before ? 'unknownKey' : 'unavailable'
      }
    },
  }
}

/** All other errors are about the keys. */
const faultsOfToken: ReadonlySet<string | undefined> = new Set([
  'ERR_JWS_SIGNATURE_VERIFICATION_FAILED',
  'ERR_JWS_INVALID',
  'ERR_JOSE_NOT_SUPPORTED',
  'ERR_JOSE_ALG_NOT_ALLOWED',
])

/** An answer came, and it is not a set of keys. */
class KeySetError extends Error {
  override readonly name = 'KeySetError'
}

/** Why a fetch failed, and what to do: of a foreign error its code, since its message may hold anything. */
function whyNotFetched(error: unknown, url: string, timeoutMs: number): string {
  if (error instanceof KeySetError) return error.message
  const name = nameOf(error)
  if (name === 'TimeoutError' || name === 'AbortError') return `no answer came in ${timeoutMs / 1_000} s`
  const code = codeOf(error)
  const remedy = certificateRemedy(code, url) ?? silenceRemedy(code, url)
  return `${code ?? name}${remedy === undefined ? '' : `: ${remedy}`}`
}

/** Is there a key that could sign? A set without one is an answer of something else than Entra. */
function holdsKey(text: string): boolean {
  const set = readJson(text)
  const keys: readonly unknown[] = isRecord(set) && Array.isArray(set.keys) ? set.keys : []
  return keys.some((key) => isRecord(key) && typeof key.n === 'string')
}

/** Sends as the Azure SDKs do: through the proxy of the environment, and trusting the same certificates. */
async function connect({ url, ca }: KeySetOptions) {
  // Loaded with the first fetch, so that the start does not wait for them.
  const { createPipelineRequest } = await import('@azure/core-rest-pipeline')
  const { createSendOnce } = await import('../azure/http.ts')
  const trust = createTrustPolicy(ca === undefined ? {} : { ca })
  const send = createSendOnce({ connect: trust, answerLimit: { maxBytes, longer: 'fail' } })
  return (abortSignal: AbortSignal) => send(createPipelineRequest({ url, abortSignal, disableKeepAlive: true }))
}
