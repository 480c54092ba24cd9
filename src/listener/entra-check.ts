import { hash } from 'node:crypto'
import { compactVerify, decodeJwt, decodeProtectedHeader } from 'jose'
import type { Evidence } from './credential.ts'
import { decideToken, type ExpectedToken } from './entra-token.ts'
import type { SigningKeys } from './signing-keys.ts'

export interface EntraCheckOptions {
  readonly expected: ExpectedToken
  readonly keys: SigningKeys
  /** Epoch milliseconds. */
  readonly now: () => number
  /** Verified tokens that are remembered until they expire. @default 1_000 */
  readonly maxCached?: number
}

/** Reads an `Authorization` header into evidence; at once where the token has been verified before. */
export type EntraCheck = (authorization: string | undefined) => Evidence | Promise<Evidence>

export function createEntraCheck({ expected, keys, now, maxCached = 1_000 }: EntraCheckOptions): EntraCheck {
  // Hashes, not tokens: nothing that could be presented again stays in memory.
  const verified = new Map<string, number>()

  function remember(digest: string, expiresAt: number): void {
    if (verified.size >= maxCached) {
      const oldest = verified.keys().next().value
      if (oldest !== undefined) verified.delete(oldest)
    }
    verified.set(digest, expiresAt)
  }

  async function verify(token: string, digest: string): Promise<Evidence> {
    const parts = decode(token)
    if (!parts) return failing('the token is no RS256 token')
    // Claims first: a token for somebody else then costs no signature and no fetch of keys.
    const decision = decideToken(parts.claims, expected, now())
    if (!decision.accepted) return failing(decision.reason)
    const key = await keys.find(parts.keyId)
    if (key === 'unavailable') return { kind: 'unavailable' }
    if (key === 'unknown') return failing("the signing key is not the tenant's")
    try {
      await compactVerify(token, key, { algorithms: ['RS256'] })
    } catch {
      return failing('the signature is wrong')
    }
    remember(digest, decision.expiresAt)
    return { kind: 'proven' }
  }

  return (authorization) => {
    const token = bearerToken(authorization)
    if (token === undefined) return { kind: 'absent' }
    const digest = hash('sha256', token, 'base64')
    const expiresAt = verified.get(digest)
    if (expiresAt !== undefined && now() < expiresAt) return { kind: 'proven' }
    return verify(token, digest)
  }
}

function failing(reason: string): Evidence {
  return { kind: 'failing', reason }
}

function bearerToken(authorization: string | undefined): string | undefined {
  if (authorization === undefined || authorization.slice(0, 7).toLowerCase() !== 'bearer ') return undefined
  return authorization.slice(7).trim() || undefined
}

function decode(token: string): { keyId: string; claims: unknown } | undefined {
  try {
    const { alg, kid } = decodeProtectedHeader(token)
    return alg === 'RS256' && typeof kid === 'string' ? { keyId: kid, claims: decodeJwt(token) } : undefined
  } catch {
    return undefined
  }
}
