// Constant-time comparison of the secret token in `X-EventGrid-Binding-Token` with ours.
import { timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import {
  type DeliveryCredential,
  deliveryTokenHeader,
  keyIdOf,
  splitDeliveryCredentials,
} from '../../core/delivery-credential.ts'
import type { Evidence } from './refuse-credential.ts'

/**
 * Reads the header `X-EventGrid-Binding-Token` into evidence. Node joins a repeated header with a comma, which makes it a list like any
 * other. A delivery is proven if any of its credentials is one of ours. Compares in constant time.
 */
export function createSharedTokenCheck(
  accepted: readonly DeliveryCredential[],
): (headers: IncomingHttpHeaders) => Evidence {
  const keyIds = new Set(accepted.map(({ keyId }) => keyId))
  const values = accepted.map(({ value }) => Buffer.from(value.reveal()))
  return ({ [headerName]: presented }) => {
    if (typeof presented !== 'string') return absent
    if (isAny(presented, values)) return proven
    const credentials = splitDeliveryCredentials(presented)
    if (credentials.some((credential) => isAny(credential, values))) return proven
    return credentials.some((credential) => keyIds.has(keyIdOf(credential))) ? mismatch : absent
  }
}

const headerName = deliveryTokenHeader.toLowerCase()

/** For all comparisons: they run for every delivery, and the credentials of all components have the same length. */
let scratch = Buffer.alloc(0)

function isAny(text: string, values: readonly Buffer[]): boolean {
  for (const value of values) if (isSame(text, value)) return true
  return false
}

function isSame(text: string, value: Buffer): boolean {
  // A length is not secret. Node reads headers as Latin-1, so each character is one byte.
  if (text.length !== value.length) return false
  if (scratch.length !== value.length) scratch = Buffer.alloc(value.length)
  scratch.write(text, 'latin1')
  return timingSafeEqual(scratch, value)
}

const proven: Evidence = { kind: 'proven' }
const absent: Evidence = { kind: 'absent' }
const mismatch: Evidence = { kind: 'mismatch' }
