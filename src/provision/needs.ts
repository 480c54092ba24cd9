/** What one event subscription needs: its place, whether it may be taken over, and what the metadata put over it. */
import { isDeepStrictEqual } from 'node:util'
import type { AdvancedFilter } from '../metadata/fields/subscription-settings.ts'
import { resetToDefault, type Setting } from '../metadata/fields/field.ts'
import { type NamespaceTopicId, resourceType, type Scope } from '../metadata/fields/scope.ts'
import { isRecord, type UnknownRecord } from '../support/text/json-text.ts'
import { canonicalRecord, destinationName, type SubscriptionProperties } from './values.ts'

export interface Refusal {
  readonly because: string
  readonly fix: string
}

/** The description of an event subscription that the metadata asks for. All its functions are pure. */
export interface WantedSubscription {
  readonly place: SubscriptionPlace
  /** Why what exists must not be written; `undefined` where it may. */
  refusalOf(existing: SubscriptionProperties): Refusal | undefined
  /**
   * The whole event subscription to write: the settings of the metadata over the existing ones. What the operator set elsewhere stays.
   * With `resets: 'ignore'` a setting that goes back to its default is left as it stands: after our own write the service shows its
   * default there, perhaps in words.
   */
  merge(existing: SubscriptionProperties, options: { readonly resets: 'apply' | 'ignore' }): UnknownRecord
  /** What a write takes from somebody, a sentence each. */
  warningsOf(existing: SubscriptionProperties): readonly string[]
  /** Why it does not deliver to us, as far as a plain read shows; `undefined` where it does. */
  awayFrom(existing: SubscriptionProperties): string | undefined
  /** A plain answer of ARM, with what that hides as we want it. */
  assumeHidden(existing: SubscriptionProperties): SubscriptionProperties
  /** Our credential is not in it, though deliveries need it. */
  lacksCredential(existing: SubscriptionProperties): boolean
}

/** A warning: what a write takes that has another kind of destination. */
export const replacedDestination = (existing: SubscriptionProperties): string =>
  `replacing an event subscription that delivered to ${destinationName(existing)}; that destination and its delivery attributes are gone`

/** Settings of the metadata by ARM's names; a value of `resetToDefault` takes a member out, `undefined` keeps what exists. */
type Settings = Readonly<Record<string, unknown>>

/** What exists, with settings of the metadata over it. */
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

/** Filters of the metadata; one that stands already stays as it was read, with what we do not know of it. */
export function standingFilters(
  setting: Setting<readonly AdvancedFilter[]> | undefined,
  existing: readonly UnknownRecord[] = [],
): unknown {
  return mapSetting(setting, (wanted) =>
    wanted.map(
      (one) => existing.find((stands) => isDeepStrictEqual(comparable(stands, one), comparable(one, one))) ?? one,
    ),
  )
}

/** The members of a filter that another one has too, as they compare. */
const comparable = (filter: UnknownRecord | AdvancedFilter, other: AdvancedFilter) =>
  canonicalRecord(Object.fromEntries(Object.entries(filter).filter(([name]) => name in other)))

/** An event subscription, and where Resource Manager keeps it. */
export interface SubscriptionPlace {
  readonly kind: 'extension' | 'systemTopic' | 'partnerTopic' | 'namespaceTopic'
  readonly name: string
  /** Resource id of the resource whose events it takes. */
  readonly sourceId: string
  /** The path of all event subscriptions of the source. */
  readonly listPath: string
  /** Whether that list holds event subscriptions of other sources as well. */
  readonly listsOthers: boolean
}

/** Its resource id. */
export const subscriptionIdOf = ({ listPath, name }: SubscriptionPlace): string => `${listPath}/${name}`

/**
 * The place of an event subscription at a scope (pure). Azure refuses the extension path of a system topic ("This event subscription
 * operation is not supported using this API call"), and takes that of custom topics, domains and their topics.
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
