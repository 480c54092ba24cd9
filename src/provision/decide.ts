/** What is to be done with an event subscription, from what stands and what is needed; the fields that differ, and those that stay. */
import { isDeepStrictEqual } from 'node:util'
import { showUrl } from '../metadata/fields/addresses.ts'
import { isRecord, type UnknownRecord } from '../support/text/json-text.ts'
import type { WantedSubscription } from './needs.ts'
import {
  canonicalSubscription,
  destinationOf,
  isChanging,
  readSubscriptionProperties,
  type SubscriptionProperties,
  unreadableAttribute,
} from './values.ts'

/** What {@link decideUpsert} decides. */
export type Upsert =
  | { readonly action: 'keep' }
  | Write
  /** Somebody's change is under way: read again when it may have ended. */
  | { readonly action: 'wait'; readonly state: string }
  | { readonly action: 'refuse'; readonly because: string; readonly fix: string }

/** A decision to write. `properties` hold secrets: they go to ARM and nowhere else. The rest holds none. */
export interface Write {
  /** `create` and `replace` write the whole, `patch` the top-level fields that differ. */
  readonly action: 'create' | 'patch' | 'replace'
  readonly properties: UnknownRecord
  /** Why, as a clause. */
  readonly because: string
  readonly changes: readonly FieldChange[]
  readonly warnings: readonly string[]
}

/** A field that a write would change. A secret value is shown as `(redacted)`. */
export interface FieldChange {
  /** The path below `properties`, as Resource Manager spells it: `filter.subjectBeginsWith`. */
  readonly field: string
  /** Absent: it is not set, or has its default. */
  readonly before?: unknown
  readonly after?: unknown
}

/**
 * Decides what to do about an event subscription: as little as brings it to what is wanted.
 *
 * @param existing `undefined` where it does not exist
 * @param resets what a setting with the value `default` does, see {@link WantedSubscription.merge}
 */
export function decideUpsert(
  existing: SubscriptionProperties | undefined,
  wanted: WantedSubscription,
  resets: 'apply' | 'ignore' = 'apply',
): Upsert {
  const properties = wanted.merge(existing ?? {}, { resets })
  const after = canonicalSubscription(properties)
  if (!existing) {
    return { action: 'create', properties, because: 'there is none', changes: changesBetween({}, after), warnings: [] }
  }
  const { provisioningState: state = 'Succeeded' } = existing
  if (isChanging(existing)) return { action: 'wait', state }
  const refusal = wanted.refusalOf(existing)
  if (refusal) return { action: 'refuse', ...refusal }

  const before = canonicalSubscription(existing)
  const differing = differingNames(before, after)
  if (differing.length === 0 && state === 'Succeeded') return { action: 'keep' }

  // A destination that ARM does not tell may be of a kind that an older version of it does not know.
  const isUntold = before.destination === undefined && after.destination !== undefined
  const whole = state !== 'Succeeded' || isUntold || clears(before, after)
  const patch = Object.fromEntries(differing.map((field) => [field, properties[field]]))
  const written = readSubscriptionProperties({ properties: whole ? properties : patch })
  const lost = 'properties' in written ? unreadableAttribute(destinationOf(written.properties)) : undefined
  if (lost !== undefined) {
    return {
      action: 'refuse',
      because: `the value of its delivery attribute ${lost} cannot be read, and would be lost if the event subscription were written`,
      fix: `let the client read it (action Microsoft.EventGrid/eventSubscriptions/getDeliveryAttributes/action), or remove the attribute`,
    }
  }
  const because = [
    ...(state === 'Succeeded' ? [] : [`it is ${state}`]),
    ...(wanted.lacksCredential(existing) ? ['our delivery credential is missing'] : []),
    ...(differing.length > 0
      ? [`other ${differing.map((field) => withParts(field, before[field], after[field])).join(', ')}`]
      : []),
  ].join(', ')
  const about = { because, changes: changesBetween(before, after), warnings: wanted.warningsOf(existing) }
  if (whole) return { action: 'replace', properties, ...about }
  return { action: 'patch', properties: patch, ...about }
}

/** In alphabetical order, as changes are shown. */
const differingNames = (before: UnknownRecord, after: UnknownRecord): readonly string[] =>
  Object.keys({ ...before, ...after })
    .filter((name) => !isDeepStrictEqual(before[name], after[name]))
    .sort()

/** For the log: `filter (subjectBeginsWith)`. `destination` alone would not tell a new credential from a new endpoint. */
function withParts(field: string, given: unknown, wanted: unknown): string {
  const [before, after] = [given ?? {}, wanted ?? {}]
  if (!isRecord(before) || !isRecord(after)) return field
  const parts = differingNames(before, after).flatMap((part) => {
    const [one, other] = [before[part], after[part]]
    return part === 'properties' && isRecord(one) && isRecord(other) ? differingNames(one, other) : [part]
  })
  return `${field} (${parts.map((part) => shortNames.get(part) ?? part).join(', ')})`
}

const shortNames: ReadonlyMap<string, string> = new Map([
  ['endpointUrl', 'url'],
  ['deliveryAttributeMappings', 'attributes'],
])

/** Does a setting vanish? A PATCH clears nothing, neither without the field nor with null. Only a PUT does. */
function clears(before: unknown, after: unknown): boolean {
  if (before === undefined) return false
  if (after === undefined) return true
  if (!isRecord(before) || !isRecord(after)) return false
  return Object.entries(before).some(([key, value]) => clears(value, after[key]))
}

/** The fields that differ between two canonical forms, down to a plain value or one delivery attribute. */
export function changesBetween(
  before: UnknownRecord,
  after: UnknownRecord,
  path: readonly string[] = [],
): FieldChange[] {
  return differingNames(before, after).flatMap((name) => {
    const [one, other] = [before[name], after[name]]
    const at = [...path, name]
    const isLeaf = path.at(-1) === 'deliveryAttributeMappings' || !(isRecord(one ?? other) && isRecord(other ?? one))
    if (!isLeaf) return changesBetween(isRecord(one) ? one : {}, isRecord(other) ? other : {}, at)
    const shown = (value: unknown) => (isSecret(one) || isSecret(other) ? '(redacted)' : showPlain(name, value))
    return {
      field: at.join('.'),
      ...(one !== undefined && { before: shown(one) }),
      ...(other !== undefined && { after: shown(other) }),
    }
  })
}

const isSecret = (attribute: unknown): boolean =>
  isRecord(attribute) && isRecord(attribute.properties) && attribute.properties.isSecret === true

const showPlain = (name: string, value: unknown): unknown => (name === 'endpointUrl' ? showUrl(String(value)) : value)

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
