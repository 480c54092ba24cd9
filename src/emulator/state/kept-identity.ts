import { z } from 'zod'
import type { KeyRing } from '../entra/token-issuer.ts'
import { type CertificateAndKey, makeAuthority } from '../server/certificates.ts'
import { type KeptValues, keptOrMade } from './kept-values.ts'

const authorityText = z.object({ certificate: z.string(), key: z.string() })

/** The certificate authority of the earlier runs, so that clients that trust it go on working; else a new one. */
export function keptAuthority(kept: KeptValues): CertificateAndKey {
  const text = keptOrMade(kept, 'identity', 'certificate authority', () => JSON.stringify(makeAuthority()))
  return authorityText.parse(JSON.parse(text))
}

/** The place of Entra's signing keys, so that tokens and key sets outlive a restart. */
export function keptKeyRing(kept: KeptValues): KeyRing {
  return {
    read: () => kept.get('identity', 'signing keys'),
    write: (keys) => kept.put('identity', 'signing keys', keys),
  }
}
