import { createHash, hkdfSync } from 'node:crypto'
import { Secret } from '../core/secret.ts'
import type { AcceptedToken } from '../listener/shared-token.ts'
import type { Scope } from '../metadata/scope.ts'

/**
 * Derives the token that a delivery must present, and its public key id, from what every replica knows: a secret of
 * the metadata, bound to one event subscription. HKDF (RFC 5869) with SHA-256, so neither of the two tells anything
 * of the source or of the other.
 */
export function deriveDeliveryToken(source: Secret, scope: Scope, name: string): AcceptedToken {
  // Azure compares both without case, and a replica may write them in another.
  const names = JSON.stringify([scope.id.toLowerCase(), name.toLowerCase()])
  // Hashed, since Node takes no more than 1,024 bytes of HKDF info.
  const subscription = createHash('sha256').update(names).digest('hex')
  return {
    keyId: derive(source, `key id ${subscription}`, 8).toString('hex'),
    token: new Secret(derive(source, `token ${subscription}`, 32).toString('base64url')),
  }
}

function derive(source: Secret, purpose: string, bytes: number): Buffer {
  return Buffer.from(hkdfSync('sha256', source.reveal(), 'eventgrid-binding delivery token', purpose, bytes))
}
