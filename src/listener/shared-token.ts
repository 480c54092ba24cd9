import { timingSafeEqual } from 'node:crypto'
import type { Secret } from '../secret.ts'
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
  const expected = new Map<string, Buffer[]>()
  for (const { keyId, token } of tokens) {
    expected.set(keyId, [...(expected.get(keyId) ?? []), Buffer.from(token.reveal())])
  }
  return (presented) => {
    if (typeof presented !== 'string') return { kind: 'absent' }
    const dot = presented.indexOf('.')
    const candidates = dot === -1 ? undefined : expected.get(presented.slice(0, dot))
    if (!candidates) return { kind: 'absent' }
    const token = Buffer.from(presented.slice(dot + 1))
    const matches = candidates.some((one) => one.length === token.length && timingSafeEqual(one, token))
    return matches ? { kind: 'proven' } : { kind: 'mismatch' }
  }
}
