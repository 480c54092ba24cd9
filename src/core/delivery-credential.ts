/** The secret token on deliveries (`X-EventGrid-Binding-Token`): how it is derived, and how several stand in one header. */
import { createHash, hkdfSync } from 'node:crypto'
import { Secret } from './secret.ts'

/** The delivery attribute that carries one to three credentials, newest first, separated by commas. Its value is secret. */
export const deliveryTokenHeader = 'X-EventGrid-Binding-Token'

export interface DeliveryCredential {
  /** Tells which of several credentials is meant. Not secret. */
  readonly keyId: string
  /** The text that a delivery carries: `{keyId}.{token}`. */
  readonly value: Secret
}

/** What credentials are derived from, and the event subscription that they are bound to. */
interface CredentialSources {
  readonly deliveryAuthentication:
    | { readonly kind: 'secret'; readonly sources: readonly Secret[] }
    | { readonly kind: 'entra' | 'none' }
  readonly scope: { readonly id: string }
  readonly eventSubscriptionName: string
}

/**
 * Derives one credential from each secret (`deliveryToken`, or `clientSecret`), in the given order: newest first. Every replica derives the
 * same credentials. No credential unless `deliveryAuthentication` is `secret`. HKDF-SHA256 (RFC 5869), bound to one event subscription, so
 * that neither part reveals the secret or the other part.
 */
export function deriveDeliveryCredentials(from: CredentialSources): readonly DeliveryCredential[] {
  const { deliveryAuthentication, scope, eventSubscriptionName } = from
  if (deliveryAuthentication.kind !== 'secret') return []
  // Azure compares both without case.
  const names = JSON.stringify([scope.id.toLowerCase(), eventSubscriptionName.toLowerCase()])
  // Hashed, because Node takes at most 1,024 bytes of HKDF info.
  const subscription = createHash('sha256').update(names).digest('hex')
  return deliveryAuthentication.sources.map((source) => {
    const keyId = derive(source, `key id ${subscription}`, 8).toString('hex')
    const token = derive(source, `token ${subscription}`, 32).toString('base64url')
    return { keyId, value: new Secret(`${keyId}.${token}`) }
  })
}

/** The newest credential, which is written into the event subscription; `undefined` where deliveries carry none. */
export const ownDeliveryCredential = (sources: CredentialSources): Secret | undefined =>
  deriveDeliveryCredentials(sources)[0]?.value

function derive(source: Secret, purpose: string, bytes: number): Buffer {
  return Buffer.from(hkdfSync('sha256', source.reveal(), 'eventgrid-binding delivery token', purpose, bytes))
}

/** The attribute holds at most 3 credentials. A proxy that repeats the header doubles them; what follows the 12th is ignored. */
const maxCredentials = 12

/** The credentials in a value of {@link deliveryTokenHeader}, in their order, as text. */
export function splitDeliveryCredentials(value: string): readonly string[] {
  return value
    .split(',')
    .map((credential) => credential.trim())
    .filter((credential) => credential !== '')
    .slice(0, maxCredentials)
}

/** The key id of a credential in text form; empty for a text without a key id. */
export function keyIdOf(credential: string): string {
  return credential.slice(0, Math.max(credential.indexOf('.'), 0))
}
