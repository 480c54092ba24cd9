// Names of the delivery attributes that an event subscription declares.
import { isWebHook } from './canonical-subscription.ts'
import type { ExistingSubscription } from './decide-upsert.ts'

/** Lower-case names, as the headers of deliveries have them. */
export function declaredAttributes(existing: ExistingSubscription | undefined): ReadonlySet<string> {
  const destination = existing?.subscription.destination
  const mappings = isWebHook(destination) ? (destination.deliveryAttributeMappings ?? []) : []
  return new Set(mappings.flatMap(({ name }) => (name === undefined ? [] : [name.toLowerCase()])))
}
