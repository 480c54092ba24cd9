import { timingSafeEqual } from 'node:crypto'
import type { Secret } from '../core/secret.ts'
import type { Evidence } from './credential.ts'

/** A token that deliveries may present, and the public name by which they do. */
export interface AcceptedToken {
  /** Tells which of several tokens is meant. Not secret. */
  readonly keyId: string
  readonly token: Secret
}

/** The delivery attribute that carries `{key id}.{token}`; its value is secret. */
export const deliveryTokenHeader = 'X-EventGrid-Binding-Token'

/** The value of {@link deliveryTokenHeader} for one token. */
export function formatDeliveryToken({ keyId, token }: AcceptedToken): string {
  return `${keyId}.${token.reveal()}`
}

/** Reads the value of {@link deliveryTokenHeader}, as Node gives headers, into evidence. Compares in constant time. */
export function createSharedTokenCheck(
  tokens: readonly AcceptedToken[],
): (presented: string | readonly string[] | undefined) => Evidence {
  const keyIds = new Set(tokens.map(({ keyId }) => keyId))
  const accepted = tokens.map((token) => {
    const value = Buffer.from(formatDeliveryToken(token))
    // Written over by each comparison, for this runs once for every delivery.
    return { value, presented: Buffer.alloc(value.length) }
  })
  const matches = (text: string) =>
    accepted.some(({ value, presented }) => {
      // A length is no secret. Node reads headers as Latin-1, so each character is one byte.
      if (text.length !== value.length) return false
      presented.write(text, 'latin1')
      return timingSafeEqual(presented, value)
    })
  return (presented) => {
    if (typeof presented !== 'string') return absent
    if (matches(presented)) return proven
    return keyIds.has(presented.slice(0, Math.max(presented.indexOf('.'), 0))) ? mismatch : absent
  }
}

const proven: Evidence = { kind: 'proven' }
const absent: Evidence = { kind: 'absent' }
const mismatch: Evidence = { kind: 'mismatch' }
