/** Whether the secret token of a delivery, in `X-EventGrid-Binding-Token`, is one of ours. */
import type { IncomingHttpHeaders } from 'node:http'
import {
  type DeliveryCredential,
  deliveryTokenHeader,
  keyIdOf,
  splitDeliveryCredentials,
} from '../../core/delivery-credential.ts'
import { isSameText } from '../../support/text/same-text.ts'
import type { Evidence } from './refuse-credential.ts'

/**
 * Reads the header `X-EventGrid-Binding-Token` into evidence. Node joins a repeated header with a comma, which makes it a list like any
 * other. A delivery is proven if any of its credentials is one of ours. Compares in constant time.
 */
export function createSharedTokenCheck(
  accepted: readonly DeliveryCredential[],
): (headers: IncomingHttpHeaders) => Evidence {
  const keyIds = new Set(accepted.map(({ keyId }) => keyId))
  const values = accepted.map(({ value }) => value.reveal())
  const isOurs = (text: string) => values.some((value) => isSameText(text, value))
  return ({ [headerName]: presented }) => {
    if (typeof presented !== 'string') return absent
    const credentials = splitDeliveryCredentials(presented)
    if (credentials.some(isOurs)) return proven
    return credentials.some((credential) => keyIds.has(keyIdOf(credential))) ? mismatch : absent
  }
}

const headerName = deliveryTokenHeader.toLowerCase()

const proven: Evidence = { kind: 'proven' }
const absent: Evidence = { kind: 'absent' }
const mismatch: Evidence = { kind: 'mismatch' }
