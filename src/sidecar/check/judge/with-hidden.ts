// What Azure hides from a client that may only read, filled in by what the metadata says: the query of the URL, our credential.
import type { Secret } from '../../../core/secret.ts'
import { isStatic, isWebHook } from '../../../provision/decide/canonical-subscription.ts'
import type { ExistingSubscription } from '../../../provision/decide/decide-upsert.ts'
import { isDeliveryAttribute } from '../../../provision/decide/merge-subscription.ts'

/** The event subscription as it is if nothing that is hidden differs (pure). */
export function withHidden(
  existing: ExistingSubscription,
  endpoint: string,
  credential: Secret | undefined,
): ExistingSubscription {
  const { subscription } = existing
  const { destination } = subscription
  if (!isWebHook(destination)) return existing
  const isHere = destination.endpointBaseUrl === endpoint.replace(/\?.*$/s, '')
  const deliveryAttributeMappings = destination.deliveryAttributeMappings?.map((mapping) =>
    credential && isStatic(mapping) && isDeliveryAttribute(mapping)
      ? { ...mapping, value: credential.reveal() }
      : mapping,
  )
  const shown = {
    ...destination,
    ...(isHere && { endpointUrl: endpoint }),
    ...(deliveryAttributeMappings && { deliveryAttributeMappings }),
  }
  return { ...existing, subscription: { ...subscription, destination: shown } }
}
