import { timingSafeEqual } from 'node:crypto'
import { type DeliveryCredential, keyIdOf, splitDeliveryCredentials } from '../core/delivery-credential.ts'
import type { Evidence } from './credential.ts'

/**
 * Reads the value of `X-EventGrid-Binding-Token`, as Node gives headers, into evidence. Node joins a repeated header with a comma, which
 * makes it a list like any other. A delivery is proven if any of its credentials is one of ours. Compares in constant time.
 */
export function createSharedTokenCheck(
  accepted: readonly DeliveryCredential[],
): (presented: string | readonly string[] | undefined) => Evidence {
  const keyIds = new Set(accepted.map(({ keyId }) => keyId))
  const candidates = accepted.map(({ value }) => {
    const expected = Buffer.from(value.reveal())
    // One buffer for all comparisons: this code runs once for every delivery.
    return { expected, presented: Buffer.alloc(expected.length) }
  })
  const isOurs = (text: string) =>
    candidates.some(({ expected, presented }) => {
      // A length is not secret. Node reads headers as Latin-1, so each character is one byte.
      if (text.length !== expected.length) return false
      presented.write(text, 'latin1')
      return timingSafeEqual(presented, expected)
    })
  return (presented) => {
    if (typeof presented !== 'string') return absent
    if (isOurs(presented)) return proven
    const credentials = splitDeliveryCredentials(presented)
    if (credentials.some(isOurs)) return proven
    return credentials.some((credential) => keyIds.has(keyIdOf(credential))) ? mismatch : absent
  }
}

const proven: Evidence = { kind: 'proven' }
const absent: Evidence = { kind: 'absent' }
const mismatch: Evidence = { kind: 'mismatch' }
