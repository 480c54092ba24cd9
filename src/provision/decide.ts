/** What is to be done with an event subscription, from what stands and what is wanted: the decision, the fields that differ, the place. */
import { isDeepStrictEqual } from 'node:util'
import { redacted } from '../core/secret.ts'
import { showUrl } from '../metadata/fields/addresses.ts'
import { resetToDefault, type Setting } from '../metadata/fields/field.ts'
import { type NamespaceTopicId, resourceType, type Scope } from '../metadata/fields/scope.ts'
import type { AdvancedFilter } from '../metadata/fields/subscription-settings.ts'
import type { SubscriptionSettings } from '../metadata/typed/metadata.ts'
import { isRecord, type UnknownRecord } from '../support/text/json-text.ts'
import {
  canonicalRecord,
  canonicalSubscription,
  destinationName,
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
  /** Absent: the field is not set, or has its default. */
  readonly before?: unknown
  readonly after?: unknown
}

/**
 * Decides what to do about an event subscription: the least that makes it as wanted.
 *
 * @param existing `undefined` where the event subscription does not exist
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

  // A destination that ARM does not tell may be of a kind that an older API version does not know.
  const isDestinationHidden = before.destination === undefined && after.destination !== undefined
  const whole = state !== 'Succeeded' || isDestinationHidden || clears(before, after)
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
  const changes = changesBetween(before, after)
  const because = [
    ...(state === 'Succeeded' ? [] : [`it is ${state}`]),
    ...(wanted.lacksCredential(existing) ? ['our delivery credential is missing'] : []),
    ...(changes.length > 0 ? [`other ${changes.map(({ field }) => field).join(', ')}`] : []),
  ].join(', ')
  const about = { because, changes, warnings: wanted.warningsOf(existing) }
  if (whole) return { action: 'replace', properties, ...about }
  return { action: 'patch', properties: patch, ...about }
}

/** In alphabetical order, as changes are shown. */
const differingNames = (before: UnknownRecord, after: UnknownRecord): readonly string[] =>
  Object.keys({ ...before, ...after })
    .filter((name) => !isDeepStrictEqual(before[name], after[name]))
    .sort()

/** Does a setting vanish? A PATCH clears nothing, neither without the field nor with null. Only a PUT does. */
function clears(before: unknown, after: unknown): boolean {
  if (before === undefined) return false
  if (after === undefined) return true
  if (!isRecord(before) || !isRecord(after)) return false
  return Object.entries(before).some(([key, value]) => clears(value, after[key]))
}

/** The fields that differ between two canonical forms, down to a plain value or one delivery attribute. */
function changesBetween(before: UnknownRecord, after: UnknownRecord, path: readonly string[] = []): FieldChange[] {
  return differingNames(before, after).flatMap((name) => {
    const [was, becomes] = [before[name], after[name]]
    const at = [...path, name]
    const isLeaf =
      path.at(-1) === 'deliveryAttributeMappings' || !(isRecord(was ?? becomes) && isRecord(becomes ?? was))
    if (!isLeaf) return changesBetween(isRecord(was) ? was : {}, isRecord(becomes) ? becomes : {}, at)
    const shown = (value: unknown) => (isSecret(was) || isSecret(becomes) ? redacted : showPlain(name, value))
    return {
      field: at.join('.'),
      ...(was !== undefined && { before: shown(was) }),
      ...(becomes !== undefined && { after: shown(becomes) }),
    }
  })
}

const isSecret = (attribute: unknown): boolean =>
  isRecord(attribute) && isRecord(attribute.properties) && attribute.properties.isSecret === true

const showPlain = (name: string, value: unknown): unknown => (name === 'endpointUrl' ? showUrl(String(value)) : value)

export interface Refusal {
  readonly because: string
  readonly fix: string
}

/** The description of an event subscription that the metadata asks for. All its functions are pure. */
export interface WantedSubscription {
  readonly place: SubscriptionPlace
  /** Why the existing event subscription must not be written; `undefined` where it may be. */
  refusalOf(existing: SubscriptionProperties): Refusal | undefined
  /**
   * The whole event subscription to write: the settings of the metadata over the existing ones. What the operator set elsewhere stays.
   * With `resets: 'ignore'` a setting that goes back to its default is not changed: after our own write the service shows its
   * default there, perhaps in words.
   */
  merge(existing: SubscriptionProperties, options: { readonly resets: 'apply' | 'ignore' }): UnknownRecord
  /** What a write takes from somebody, a sentence each. */
  warningsOf(existing: SubscriptionProperties): readonly string[]
  /** Why the event subscription does not deliver to us, as far as a plain read shows; `undefined` where it does. */
  awayFrom(existing: SubscriptionProperties): string | undefined
  /** A plain answer of ARM. Values that ARM hides are filled in as we want them. */
  assumeHidden(existing: SubscriptionProperties): SubscriptionProperties
  /** Whether deliveries need our credential, and the event subscription does not carry that credential. */
  lacksCredential(existing: SubscriptionProperties): boolean
}

/** A warning: what a write takes that has another kind of destination. */
export const replacedDestination = (existing: SubscriptionProperties): string =>
  `replacing an event subscription that delivered to ${destinationName(existing)}; that destination and its delivery attributes are gone`

/** Settings of the metadata by ARM's names; a value of `resetToDefault` takes a member out, `undefined` keeps what exists. */
type Settings = Readonly<Record<string, unknown>>

/** The existing settings, with the settings of the metadata over them. */
export function withSettings(
  existing: unknown,
  settings: Settings,
  resets: 'apply' | 'ignore',
): Record<string, unknown> {
  const merged: Record<string, unknown> = { ...(isRecord(existing) && existing) }
  for (const [name, setting] of Object.entries(settings)) {
    if (setting === undefined || (setting === resetToDefault && resets === 'ignore')) continue
    if (setting === resetToDefault) delete merged[name]
    else merged[name] = setting
  }
  return merged
}

/** A setting in ARM's form. */
export function mapSetting<Value>(setting: Setting<Value> | undefined, toArm: (value: Value) => unknown): unknown {
  return setting === undefined || setting === resetToDefault ? setting : toArm(setting)
}

/** A destination for dead letters, in ARM's form, over the existing one. */
export function blobDestination(
  given: { readonly storageAccountId: string; readonly container: string },
  existing: SubscriptionProperties['deadLetterDestination'],
): UnknownRecord {
  const kept = existing?.endpointType === 'StorageBlob' ? existing : undefined
  return {
    ...kept,
    endpointType: 'StorageBlob',
    properties: { ...kept?.properties, resourceId: given.storageAccountId, blobContainerName: given.container },
  }
}

/** Filters of the metadata. A filter that stands already stays as it was read, with members that we do not know. */
export const standingFilters = (wanted: readonly AdvancedFilter[], existing: readonly UnknownRecord[] = []) =>
  wanted.map(
    (filter): UnknownRecord | AdvancedFilter =>
      existing.find((stands) => isDeepStrictEqual(comparable(stands, filter), comparable(filter, filter))) ?? filter,
  )

/** The filter of an event subscription outside of namespaces: the filter of the metadata over the existing filter. */
export function mergeFilter(
  { includedEventTypes, subjectBeginsWith, subjectEndsWith, advancedFilters }: Partial<SubscriptionSettings>,
  existing: SubscriptionProperties['filter'],
  resets: 'apply' | 'ignore',
): Record<string, unknown> {
  const standing = mapSetting(advancedFilters, (wanted) => standingFilters(wanted, existing?.advancedFilters))
  const filters = { includedEventTypes, subjectBeginsWith, subjectEndsWith, advancedFilters: standing }
  return withSettings(existing, filters, resets)
}

/** The members of a filter that another one has too, as they compare. */
const comparable = (filter: UnknownRecord | AdvancedFilter, other: AdvancedFilter) =>
  canonicalRecord(Object.fromEntries(Object.entries(filter).filter(([name]) => name in other)))

/** An event subscription, and where Resource Manager keeps it. */
export interface SubscriptionPlace {
  readonly kind: 'extension' | 'systemTopic' | 'partnerTopic' | 'namespaceTopic'
  readonly name: string
  /** Resource id of the resource whose events are taken. */
  readonly sourceId: string
  /** The path of all event subscriptions of the source. */
  readonly listPath: string
  /** Whether that list holds event subscriptions of other sources as well. */
  readonly listsOthers: boolean
}

/** The resource id of an event subscription. */
export const subscriptionIdOf = ({ listPath, name }: SubscriptionPlace): string => `${listPath}/${name}`

/**
 * The place of an event subscription at a scope (pure). Azure refuses the extension path of a system topic ("This event subscription
 * operation is not supported using this API call"), and takes the extension path of custom topics, domains and their topics.
 */
export function placeAt(scope: Scope, name: string): SubscriptionPlace {
  const { id: sourceId } = scope
  const kind = kindOf(scope)
  if (kind !== 'extension') {
    return { kind, name, sourceId, listPath: `${sourceId}/eventSubscriptions`, listsOthers: false }
  }
  return {
    kind,
    name,
    sourceId,
    listPath: `${sourceId}/providers/Microsoft.EventGrid/eventSubscriptions`,
    listsOthers: !('provider' in scope),
  }
}

/** The place of the Queue event subscription of a namespace topic. */
export function placeOfQueue({ id: sourceId }: NamespaceTopicId, name: string): SubscriptionPlace {
  return { kind: 'namespaceTopic', name, sourceId, listPath: `${sourceId}/eventSubscriptions`, listsOthers: false }
}

function kindOf(scope: Scope): 'extension' | 'systemTopic' | 'partnerTopic' {
  switch (resourceType(scope)) {
    case 'microsoft.eventgrid/systemtopics':
      return 'systemTopic'
    case 'microsoft.eventgrid/partnertopics':
      return 'partnerTopic'
    default:
      return 'extension'
  }
}
