/** Checks the bearer token of a delivery, in the order that costs least, and remembers those that were verified. */
import { hash } from 'node:crypto'
import { decodeJwt, decodeProtectedHeader } from 'jose'
import { keepNewest } from '../../support/work/keep-newest.ts'
import type { CredentialFault } from './credential-fault.ts'
import { decideToken, type ExpectedToken } from './entra-token.ts'
import type { KeySet } from './key-set.ts'
import type { Evidence } from './refuse-credential.ts'

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
    const claims = readClaims(token)
    if (claims === undefined) return failing({ problem: 'format' })
    // Claims first: a token for somebody else then costs no signature check and no fetch of keys.
    const decision = decideToken(claims, expected, now())
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
