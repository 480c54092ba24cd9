import type { EmulatorContext } from '../context.ts'
import type { WebHookProperties } from '../model/model.ts'

/**
 * Tokens are signed at most once in this time for each audience: signing one per delivery
 * would be the slowest part of it.
 */
const tokenReuseMs = 60_000

/** The bearer token of Entra-secured delivery; undefined for a webhook that doesn't ask for it. */
export function createDeliveryTokens(
  context: EmulatorContext,
): (webhook: WebHookProperties) => Promise<string | undefined> {
  const issued = new Map<string, { readonly token: Promise<string>; readonly at: number }>()
  return async (webhook) => {
    const { azureActiveDirectoryTenantId: tenantId, azureActiveDirectoryApplicationIdOrUri: audience } = webhook
    if (!tenantId || !audience) return undefined
    const key = `${tenantId} ${audience}`
    const now = context.clock.now()
    const known = issued.get(key)
    if (known && now - known.at < tokenReuseMs) return known.token
    const token = context.tokens.issueDeliveryToken({ tenantId, audience, version: context.deliveryTokenVersion })
    issued.set(key, { token, at: now })
    token.catch(() => issued.delete(key))
    return token
  }
}
