/** Which claims of an Entra token are accepted: issuer, audience, caller and expiry. */
import { scrub } from '../../core/scrub.ts'
import { isRecord } from '../../support/text/is-record.ts'
import { cut } from '../../support/text/text.ts'
import type { CredentialFault } from './credential-fault.ts'

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
  if (!isRecord(claims)) return reject({ problem: 'format' })
  const { iss, tid, aud, exp, nbf, appid, azp } = claims
  const issued = issuers(expected)
  if (!matches(iss, issued)) return wrongClaim('issuer', 'iss', issued, iss)
  if (!matches(tid, [expected.tenantId])) return wrongClaim('tenant', 'tid', [expected.tenantId], tid)
  const caller = appid ?? azp
  if (!matches(caller, [expected.eventGridClientId]))
    return wrongClaim(
      'caller',
      appid === undefined && azp !== undefined ? 'azp' : 'appid',
      [expected.eventGridClientId],
      caller,
    )
  const audience: readonly unknown[] = Array.isArray(aud) ? aud : [aud]
  const audiences = acceptedAudiences(expected)
  if (!audience.some((one) => matches(one, audiences))) return wrongClaim('audience', 'aud', audiences, aud)
  if (typeof exp !== 'number' || !Number.isFinite(exp) || now >= exp * 1_000 + skewMs)
    return wrongClaim('expired', 'exp', [`later than ${timeOf(now)}`], timeClaim(exp))
  if (nbf !== undefined && !(typeof nbf === 'number' && now >= nbf * 1_000 - skewMs))
    return wrongClaim('not_yet_valid', 'nbf', [`not later than ${timeOf(now)}`], timeClaim(nbf))
  return { accepted: true, expiresAt: exp * 1_000 }
}

function reject(fault: CredentialFault): TokenDecision {
  return { accepted: false, fault }
}

function wrongClaim(
  problem: CredentialFault['problem'],
  claim: string,
  accepted: readonly string[],
  came: unknown,
): TokenDecision {
  const shown = shownClaim(came)
  return reject({ problem, claim, expected: accepted.join(' or '), ...(shown !== undefined && { came: shown }) })
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
  return [
    ...new Set([`https://${issuerHostV1}/${tenantId}/`, ...authorityHosts.map((host) => `${host}/${tenantId}/v2.0`)]),
  ]
}

function acceptedAudiences({ clientId, subscriberEndpoint }: ExpectedToken): readonly string[] {
  const { origin, pathname } = new URL(subscriberEndpoint)
  return [clientId, `api://${clientId}`, `${origin}${pathname}`]
}

/** Compares without case, as ids and hosts are. */
function matches(value: unknown, accepted: readonly string[]): boolean {
  return typeof value === 'string' && accepted.some((one) => one.toLowerCase() === value.toLowerCase())
}
