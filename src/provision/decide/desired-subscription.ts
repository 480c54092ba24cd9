// What the webhook event subscription shall be, from the input metadata; without `default` resets.
import type { Secret } from '../../core/secret.ts'
import { resetToDefault } from '../../metadata/fields/setting.ts'
import type { InputMetadata, SubscriptionSettings } from '../../metadata/typed/metadata.ts'

type AskedOf = Pick<InputMetadata, 'subscriberEndpoint' | 'deliveryAuthentication' | 'settings' | 'replaceDestination'>

export interface DesiredSubscription extends AskedOf {
  /** Our credential in the delivery attribute. `undefined` with another authentication: then the attribute is removed. */
  readonly deliveryCredential: Secret | undefined
}

/**
 * What the event subscription shall be. Only `deliveryAuthentication: secret` uses `deliveryCredential`.
 * @throws TypeError without the credential that `deliveryAuthentication: secret` needs: the write would remove the attribute
 */
export function desiredSubscription(input: AskedOf, credential: Secret | undefined): DesiredSubscription {
  const { subscriberEndpoint, deliveryAuthentication, settings, replaceDestination } = input
  const deliveryCredential = deliveryAuthentication.kind === 'secret' ? credential : undefined
  if (deliveryAuthentication.kind === 'secret' && !credential)
    throw new TypeError('deliveryAuthentication secret needs a credential')
  return { subscriberEndpoint, deliveryAuthentication, settings, replaceDestination, deliveryCredential }
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
