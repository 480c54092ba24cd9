/** What stands in an event subscription in Azure and stays, because no field of the metadata sets it. */
import { canonicalSubscription } from './canonical-subscription.ts'
import { changesBetween } from './decide-upsert.ts'
import type { SubscriptionProperties } from './subscription-properties.ts'
import type { WantedSubscription } from './wanted-subscription.ts'

/** A setting by its path, as Resource Manager spells it. A secret value is shown as `(redacted)`. */
export interface StayingSetting {
  readonly field: string
  readonly value: unknown
}

/** The settings that an operator made in Azure, or a field that is gone from the metadata (pure). */
export function settingsThatStay(
  existing: SubscriptionProperties,
  wanted: WantedSubscription,
): readonly StayingSetting[] {
  const after = (properties: SubscriptionProperties) =>
    canonicalSubscription(wanted.merge(properties, { resets: 'apply' }))
  return changesBetween(after({}), after(existing)).flatMap(({ field, ...change }) =>
    'before' in change ? [] : [{ field, value: change.after }],
  )
}

/** Names the filters that stay, for a log line and a report; `undefined` without one. Azure fills in other settings by itself. */
export function stayingFilters(settings: readonly StayingSetting[]): string | undefined {
  const filters = settings.map(({ field }) => field).filter((field) => field.startsWith('filter'))
  if (filters.length === 0) return undefined
  return `stays in Azure, for no field of the component sets it: ${filters.join(', ')} (default resets a field)`
}
