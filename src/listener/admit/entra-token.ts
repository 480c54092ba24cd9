// Accepted issuer, tenant, audience, caller, expiry of Entra tokens; 5 minutes clock skew.
import { isRecord } from '../../support/text/is-record.ts'

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

/** Accepted until `expiresAt` (epoch milliseconds), or refused with one of a fixed set of reasons. */
export type TokenDecision =
  | { readonly accepted: true; readonly expiresAt: number }
  | { readonly accepted: false; readonly reason: string }

const skewMs = 5 * 60_000

/** Judges the claims of a token, not its signature. Versions 1 and 2 differ in the issuer and in `appid` or `azp`. */
export function decideToken(claims: unknown, expected: ExpectedToken, now: number): TokenDecision {
  if (!isRecord(claims)) return reject('the token has no claims')
  const { iss, tid, aud, exp, nbf } = claims
  if (!matches(iss, issuers(expected))) return reject('the issuer is not the tenant')
  if (!matches(tid, [expected.tenantId])) return reject('the tenant is another')
  if (!matches(claims.appid ?? claims.azp, [expected.eventGridClientId])) return reject('the caller is not Event Grid')
  const audience: readonly unknown[] = Array.isArray(aud) ? aud : [aud]
  const audiences = acceptedAudiences(expected)
  if (!audience.some((one) => matches(one, audiences))) return reject('the audience is not the binding')
  if (typeof exp !== 'number' || !Number.isFinite(exp)) return reject('the token has no expiry')
  if (now >= exp * 1_000 + skewMs) return reject('the token has expired')
  if (nbf !== undefined && !(typeof nbf === 'number' && now >= nbf * 1_000 - skewMs))
    return reject('the token is not valid yet')
  return { accepted: true, expiresAt: exp * 1_000 }
}

function reject(reason: string): TokenDecision {
  return { accepted: false, reason }
}

function issuers({ tenantId, issuerHostV1, authorityHosts }: ExpectedToken): readonly string[] {
  return [`https://${issuerHostV1}/${tenantId}/`, ...authorityHosts.map((host) => `${host}/${tenantId}/v2.0`)]
}

function acceptedAudiences({ clientId, subscriberEndpoint }: ExpectedToken): readonly string[] {
  const { origin, pathname } = new URL(subscriberEndpoint)
  return [clientId, `api://${clientId}`, `${origin}${pathname}`]
}

/** Compares without case, as ids and hosts are. */
function matches(value: unknown, accepted: readonly string[]): boolean {
  return typeof value === 'string' && accepted.some((one) => one.toLowerCase() === value.toLowerCase())
}
