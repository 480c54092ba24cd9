import type { Secret } from '../core/secret.ts'
import type { InputMetadata, SubscriptionSettings } from '../metadata/metadata.ts'
import { resetToDefault } from '../metadata/metadata.ts'

export interface DesiredSubscription {
  readonly endpointUrl: string
  /** Our credential in the delivery attribute. `undefined` with another authentication: then the attribute is removed. */
  readonly deliveryCredential: Secret | undefined
  /** Entra-secured delivery; `undefined` where deliveries prove themselves otherwise, and then it is switched off. */
  readonly entra: { readonly tenantId: string; readonly applicationIdOrUri: string } | undefined
  readonly settings: SubscriptionSettings
  /** May an event subscription that delivers elsewhere than to a web hook be replaced? */
  readonly replaceDestination: boolean
}

/**
 * What the event subscription shall be. Only `deliveryAuthentication: secret` uses `deliveryCredential`.
 * @throws TypeError without the credential that `deliveryAuthentication: secret` needs
 */
export function desiredSubscription(
  input: Pick<InputMetadata, 'subscriberEndpoint' | 'deliveryAuthentication' | 'settings' | 'replaceDestination'>,
  deliveryCredential: Secret | undefined,
): DesiredSubscription {
  const { subscriberEndpoint: endpointUrl, deliveryAuthentication: delivery, settings, replaceDestination } = input
  if (delivery.kind === 'secret' && !deliveryCredential)
    throw new TypeError('deliveryAuthentication secret needs a credential')
  return {
    endpointUrl,
    deliveryCredential: delivery.kind === 'secret' ? deliveryCredential : undefined,
    entra:
      delivery.kind === 'entra' ? { tenantId: delivery.tenantId, applicationIdOrUri: delivery.clientId } : undefined,
    settings,
    replaceDestination,
  }
}

/**
 * The same without resets. After our own write the service shows its default there, perhaps in words (a storage account lists
 * its default event types). That does not count as a difference.
 */
export function withoutResets(desired: DesiredSubscription): DesiredSubscription {
  const { eventDeliverySchema, ...rest } = desired.settings
  const set: Omit<SubscriptionSettings, 'eventDeliverySchema'> = Object.fromEntries(
    Object.entries(rest).filter(([, setting]) => setting !== resetToDefault),
  )
  return { ...desired, settings: { eventDeliverySchema, ...set } }
}
