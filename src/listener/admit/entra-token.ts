/** Whether the Entra token of a delivery is accepted: by its claims, then its signature; those that were verified are remembered. */
import { hash } from 'node:crypto'
import { decodeJwt, decodeProtectedHeader } from 'jose'
import { scrub } from '../../core/scrub.ts'
import { isRecord } from '../../support/text/is-record.ts'
import { cut } from '../../support/text/text.ts'
import { keepNewest } from '../../support/work/keep-newest.ts'
import type { CredentialFault, Evidence } from './credential-fault.ts'
import type { KeySet } from './key-set.ts'

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
  if (nbf !== undefined && !(typeof nbf === 'number' && now >= nbf * 1_000 - skewMs))
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
