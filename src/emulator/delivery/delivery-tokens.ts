import type { TokenIssuer } from '../entra/token-issuer.ts'
import type { Clock } from '../model/clock.ts'
import type { WebHookProperties } from '../model/model.ts'

/** A token is used this long for all deliveries to its audience: signing is slower than the rest of a delivery. */
const tokenReuseMs = 60_000

export interface DeliveryTokenOptions {
  readonly clock: Clock
  readonly tokens: Pick<TokenIssuer, 'issueDeliveryToken'>
  /** Version of the Entra tokens that deliveries carry. */
  readonly deliveryTokenVersion: '1.0' | '2.0'
}

/** Returns the bearer token of an Entra-secured delivery; undefined for other webhooks. */
export function createDeliveryTokens({ clock, tokens, deliveryTokenVersion }: DeliveryTokenOptions) {
  const issued = new Map<string, { readonly token: Promise<string>; readonly at: number }>()
  return async (webhook: WebHookProperties): Promise<string | undefined> => {
    const { azureActiveDirectoryTenantId: tenantId, azureActiveDirectoryApplicationIdOrUri: audience } = webhook
    if (!tenantId || !audience) return undefined
    const key = `${tenantId} ${audience}`
    const now = clock.now()
    const known = issued.get(key)
    if (known && now - known.at < tokenReuseMs) return known.token
    const token = tokens.issueDeliveryToken({ tenantId, audience, version: deliveryTokenVersion })
    issued.set(key, { token, at: now })
    token.catch(() => issued.delete(key))
    return token
  }
}
