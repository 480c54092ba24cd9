// Create, keep, patch, replace, wait or refuse, from what exists; other destination, warnings.
import { isDeepStrictEqual } from 'node:util'
import type {
  EventSubscription,
  EventSubscriptionUpdateParameters,
  WebHookEventSubscriptionDestination,
} from '@azure/arm-eventgrid'
import { isRecord } from '../../support/text/is-record.ts'
import { carriedSettings, type UnknownSetting } from '../arm/carry-over.ts'
import {
  type CanonicalSubscription,
  canonicalSubscription,
  isStatic,
  isWebHook,
  type WritableField,
  writableFields,
} from './canonical-subscription.ts'
import type { DesiredSubscription } from './desired-subscription.ts'
import {
  credentialsOf,
  isDeliveryAttribute,
  maxCredentials,
  mergeCredentials,
  mergeSubscription,
} from './merge-subscription.ts'

/** An event subscription as it exists in Azure, with what ARM hides in its plain answer joined in. */
export interface ExistingSubscription {
  /** As the SDK reads it, but with the full URL and the delivery attributes' values, from their own calls. */
  readonly subscription: EventSubscription
  /** What the answer held beyond the SDK's model. */
  readonly unknownSettings: readonly UnknownSetting[]
}

/** What {@link decideUpsert} decides. */
export type Upsert =
  | { readonly action: 'keep' }
  | Write
  /** Somebody's change is under way: read again when it may have ended. */
  | { readonly action: 'wait'; readonly state: string }
  | { readonly action: 'refuse'; readonly because: string; readonly fix: string }

/** A decision to write. Bodies hold secrets: they go to the SDK and nowhere else. */
export type Write =
  | { readonly action: 'create'; readonly body: EventSubscription }
  | ({ readonly action: 'patch'; readonly body: EventSubscriptionUpdateParameters } & Change)
  | ({ readonly action: 'replace'; readonly body: EventSubscription } & Change)

interface Change {
  /** Only `settings` takes something away that somebody else may have set. */
  readonly difference: 'credential' | 'broken' | 'settings'
  readonly carryOver: readonly UnknownSetting[]
  /** The differing top-level fields, with what differs in them, for the log. */
  readonly because: string
  readonly warnings: readonly string[]
}

/** What ARM gives in place of a secret attribute's value. */
const hiddenValue = 'Hidden'

export const isChanging = ({ provisioningState: state }: EventSubscription): boolean =>
  state === 'Creating' || state === 'Updating' || state === 'Deleting'

/** Does Event Grid deliver by it now? During a change it delivers by the settings from before. */
export const isActive = ({ provisioningState: state }: EventSubscription): boolean =>
  state === 'Succeeded' || state === 'Updating'

/** Decides what to do about the event subscription: as little as brings it to what is desired. */
export function decideUpsert(existing: ExistingSubscription | undefined, desired: DesiredSubscription): Upsert {
  if (!existing) return { action: 'create', body: mergeSubscription(undefined, desired) }
  const { subscription } = existing
  const { destination, provisioningState: state = 'Succeeded' } = subscription
  if (isChanging(subscription)) return { action: 'wait', state }
  if (!isWebHook(destination)) return decideOtherDestination(existing, desired)

  const body = mergeSubscription(subscription, desired)
  const before = canonicalSubscription(subscription)
  const after = canonicalSubscription(body)
  const differing = differingNames(before, after, writableFields)
  if (differing.length === 0 && state === 'Succeeded') return { action: 'keep' }

  const put = state !== 'Succeeded' || clears(before, after)
  const unreadable = put || differing.includes('destination') ? hiddenAttribute(body) : undefined
  if (unreadable !== undefined) {
    return {
      action: 'refuse',
      because: `its secret delivery attribute ${unreadable} cannot be read, and would be lost if the event subscription were written`,
      fix: `let the client read it (action Microsoft.EventGrid/eventSubscriptions/getDeliveryAttributes/action), or remove the attribute`,
    }
  }
  const ours = desired.deliveryCredential?.reveal()
  const credentials = ours === undefined ? undefined : mergeCredentials(credentialsOf(destination), ours)
  const because = [
    ...(state === 'Succeeded' ? [] : [`it is ${state}`]),
    ...(credentials?.added ? ['our delivery credential is missing'] : []),
    ...(differing.length > 0
      ? [`other ${differing.map((field) => withParts(field, before[field], after[field])).join(', ')}`]
      : []),
  ].join(', ')
  const warnings = [...movedHost(destination, desired), ...(credentials?.removed ? [tooManyCredentials] : [])]
  const carryOver = carriedSettings(existing.unknownSettings, desired)
  const difference = kindOfDifference(differing, before, after)
  if (put) return { action: 'replace', body, difference, carryOver, because, warnings }
  const patch: EventSubscriptionUpdateParameters = Object.fromEntries(differing.map((field) => [field, body[field]]))
  const carried = carryOver.filter(({ path: [field] }) => differing.some((name) => name === field))
  return { action: 'patch', body: patch, difference, carryOver: carried, because, warnings }
}

/** Does it deliver to the endpoint of the metadata? The query is not compared. */
export function delivers({ subscription }: ExistingSubscription, { subscriberEndpoint }: DesiredSubscription): boolean {
  const { destination } = subscription
  const existing = isWebHook(destination) ? (destination.endpointBaseUrl ?? destination.endpointUrl) : undefined
  return existing?.split('?')[0] === subscriberEndpoint.split('?')[0]
}

function decideOtherDestination(
  { subscription, unknownSettings }: ExistingSubscription,
  desired: DesiredSubscription,
): Upsert {
  const { destination, deliveryWithResourceIdentity: wrapped } = subscription
  const elsewhere = wrapped
    ? `${wrapped.destination?.endpointType ?? 'another destination'} by a managed identity`
    : (destination?.endpointType ?? 'a destination of an unknown type')
  if (!desired.replaceDestination) {
    return {
      action: 'refuse',
      because: `an event subscription of that name exists, and delivers to ${elsewhere}`,
      fix: 'choose another eventSubscriptionName, or set replaceDestination to "true" to have it deliver here instead',
    }
  }
  const carryOver = carriedSettings(unknownSettings, desired).filter(({ path }) => path[0] !== 'destination')
  return {
    action: 'replace',
    body: mergeSubscription(subscription, desired),
    difference: 'settings',
    carryOver,
    because: `it delivers to ${elsewhere}`,
    warnings: [
      `replacing an event subscription that delivered to ${elsewhere}; that destination and its delivery attributes are gone`,
    ],
  }
}

function kindOfDifference(
  differing: readonly WritableField[],
  before: CanonicalSubscription,
  after: CanonicalSubscription,
): Change['difference'] {
  if (differing.length === 0) return 'broken'
  const parts = differingParts(before.destination, after.destination)
  return differing.every((field) => field === 'destination') && parts?.every((part) => part === 'attributes')
    ? 'credential'
    : 'settings'
}

function differingNames<Name extends string>(
  before: Partial<Record<Name, unknown>>,
  after: Partial<Record<Name, unknown>>,
  names: readonly Name[],
): Name[] {
  return names.filter((name) => !isDeepStrictEqual(before[name], after[name]))
}

/** For the log: `destination (attributes)`. `destination` alone would not tell a new credential from a new endpoint. */
function withParts(field: string, before: unknown, after: unknown): string {
  const parts = differingParts(before, after)
  return parts ? `${field} (${parts.join(', ')})` : field
}

function differingParts(before: unknown, after: unknown): string[] | undefined {
  const [one, other] = [before ?? {}, after ?? {}]
  return isRecord(one) && isRecord(other) ? differingNames(one, other, Object.keys({ ...one, ...other })) : undefined
}

/** Does a setting vanish? A PATCH clears nothing, neither without the field nor with null. Only a PUT does. */
function clears(before: unknown, after: unknown): boolean {
  if (before === undefined) return false
  if (after === undefined) return true
  if (!isRecord(before) || !isRecord(after)) return false
  return Object.entries(before).some(([key, value]) => clears(value, after[key]))
}

function hiddenAttribute({ destination }: EventSubscription): string | undefined {
  if (!isWebHook(destination)) return undefined
  const unreadable = destination.deliveryAttributeMappings?.find(
    (mapping) =>
      !isDeliveryAttribute(mapping) &&
      isStatic(mapping) &&
      mapping.isSecret === true &&
      (mapping.value === undefined || mapping.value === null || mapping.value === hiddenValue),
  )
  return unreadable?.name
}

const tooManyCredentials =
  `the event subscription holds at most ${maxCredentials} delivery credentials, so the oldest is ` +
  `removed; replicas with more secrets than that use the same event subscription`

function movedHost(
  { endpointUrl, endpointBaseUrl }: WebHookEventSubscriptionDestination,
  { subscriberEndpoint }: DesiredSubscription,
): string[] {
  const existing = endpointUrl ?? endpointBaseUrl
  if (!existing || !URL.canParse(existing)) return []
  const from = new URL(existing).host
  const to = new URL(subscriberEndpoint).host
  return from === to ? [] : [`moving the event subscription from ${from} to ${to}: ${from} gets no more events of it`]
}
