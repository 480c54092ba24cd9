/** Push: the event subscription that delivers to the web hook with our credential, from the input metadata and over what exists. */
import { deliveryTokenHeader, ownDeliveryCredential, splitDeliveryCredentials } from '../core/delivery-credential.ts'
import { resetToDefault } from '../metadata/fields/field.ts'
import type { PushMetadata } from '../metadata/typed/metadata.ts'
import type { UnknownRecord } from '../support/text/json-text.ts'
import {
  blobDestination,
  mapSetting,
  mergeFilter,
  placeAt,
  replacedDestination,
  type WantedSubscription,
  withSettings,
} from './decide.ts'
import {
  destinationName,
  destinationOf,
  isOurAttribute,
  type SubscriptionProperties,
  type WebHookProperties,
  webHookOf,
  withDestination,
  withoutNothing,
  writable,
} from './values.ts'

export type WebHookInput = Pick<
  PushMetadata,
  | 'scope'
  | 'eventSubscriptionName'
  | 'subscriberEndpoint'
  | 'deliveryAuthentication'
  | 'settings'
  | 'replaceDestination'
>

/** What the event subscription of push shall be. */
export function wantedWebHook(input: WebHookInput): WantedSubscription {
  const { subscriberEndpoint, replaceDestination } = input
  const ours = ownDeliveryCredential(input)?.reveal()

  return {
    place: placeAt(input.scope, input.eventSubscriptionName),
    refusalOf(existing) {
      if (replaceDestination || webHookOf(existing)) return undefined
      return {
        because: `an event subscription of that name exists, and delivers to ${destinationName(existing)}`,
        fix: 'choose another eventSubscriptionName, or set replaceDestination to "true" to have it deliver here instead',
      }
    },
    merge: (existing, { resets }) => merge(existing, input, ours, resets),
    warningsOf(existing) {
      const webHook = webHookOf(existing)
      if (!webHook) return [replacedDestination(existing)]
      const isFull = ours !== undefined && mergeCredentials(credentialsOf(webHook), ours).removed > 0
      return [...movedHost(webHook, subscriberEndpoint), ...(isFull ? [tooManyCredentials] : [])]
    },
    awayFrom(existing) {
      const webHook = webHookOf(existing)
      if (!webHook) return `it delivers to ${destinationName(existing)}`
      const url = webHook.endpointBaseUrl ?? webHook.endpointUrl
      if (url === undefined || withoutQuery(url) === withoutQuery(subscriberEndpoint)) return undefined
      return `it delivers to ${withoutQuery(url)}, not to ${withoutQuery(subscriberEndpoint)}`
    },
    assumeHidden(existing) {
      const webHook = webHookOf(existing)
      if (!webHook) return existing
      const { endpointBaseUrl: shown } = webHook
      const isOurs = shown !== undefined && withoutQuery(shown) === withoutQuery(subscriberEndpoint)
      const attributes = (webHook.deliveryAttributeMappings ?? []).map((attribute) =>
        ours !== undefined && isOurAttribute(attribute) ? ourAttribute(ours) : attribute,
      )
      const properties = {
        ...webHook,
        ...(isOurs && { endpointUrl: subscriberEndpoint }),
        deliveryAttributeMappings: attributes,
      }
      const destination = { ...destinationOf(existing), endpointType: 'WebHook', properties }
      return { ...existing, ...withDestination(existing, destination) }
    },
    lacksCredential: (existing) =>
      ours !== undefined && mergeCredentials(credentialsOf(webHookOf(existing)), ours).added,
  }
}

function merge(
  existing: SubscriptionProperties,
  { subscriberEndpoint, deliveryAuthentication, settings }: WebHookInput,
  ours: string | undefined,
  resets: 'apply' | 'ignore',
): UnknownRecord {
  const { deadLetterDestination, deadLetterWithResourceIdentity, ...others } = writable(existing)
  const webHook = webHookOf(existing)
  const { endpointBaseUrl: _shown, ...kept } = webHook ?? {}
  const attributes = (webHook?.deliveryAttributeMappings ?? []).filter((attribute) => !isOurAttribute(attribute))
  if (ours !== undefined) attributes.push(ourAttribute(mergeCredentials(credentialsOf(webHook), ours).value))
  const { maxEventsPerBatch, preferredBatchSizeInKilobytes } = settings
  return withoutNothing({
    ...withSettings(others, { labels: settings.labels }, resets),
    ...withDestination(existing, {
      ...(webHook && destinationOf(existing)),
      endpointType: 'WebHook',
      properties: {
        ...withSettings(kept, { maxEventsPerBatch, preferredBatchSizeInKilobytes }, resets),
        endpointUrl: subscriberEndpoint,
        deliveryAttributeMappings: attributes,
        ...(deliveryAuthentication.kind === 'entra' && {
          azureActiveDirectoryTenantId: deliveryAuthentication.tenantId,
          azureActiveDirectoryApplicationIdOrUri: deliveryAuthentication.clientId,
        }),
      },
    }),
    eventDeliverySchema: settings.eventDeliverySchema,
    filter: mergeFilter(settings, existing.filter, resets),
    retryPolicy: withSettings(
      others.retryPolicy,
      {
        maxDeliveryAttempts: settings.maxDeliveryAttempts,
        eventTimeToLiveInMinutes: settings.eventTimeToLiveMinutes,
      },
      resets,
    ),
    ...mergeDeadLetter(existing, settings.deadLetter, resets),
  })
}

/** Metadata changes the dead-letter destination; a managed identity for it stays, because it is the operator's. */
function mergeDeadLetter(
  { deadLetterDestination, deadLetterWithResourceIdentity: wrapped }: SubscriptionProperties,
  setting: PushMetadata['settings']['deadLetter'],
  resets: 'apply' | 'ignore',
) {
  if (setting === undefined || (setting === resetToDefault && resets === 'ignore')) {
    return { deadLetterDestination, deadLetterWithResourceIdentity: wrapped }
  }
  const standing = wrapped ? wrapped.deadLetterDestination : deadLetterDestination
  const destination = mapSetting(setting, (given) => blobDestination(given, standing))
  if (destination === resetToDefault) return {}
  return wrapped
    ? { deadLetterWithResourceIdentity: { ...wrapped, deadLetterDestination: destination } }
    : { deadLetterDestination: destination }
}

/** The most credentials that the delivery attribute holds: enough for a rotation that starts before the last one ended. */
export const maxCredentials = 3

const tooManyCredentials =
  `the event subscription holds at most ${maxCredentials} delivery credentials, so the oldest is ` +
  `removed; replicas with more secrets than that use the same event subscription`

function movedHost({ endpointUrl, endpointBaseUrl }: WebHookProperties, subscriberEndpoint: string): string[] {
  const existing = endpointUrl ?? endpointBaseUrl
  if (!existing || !URL.canParse(existing)) return []
  const from = new URL(existing).host
  const to = new URL(subscriberEndpoint).host
  return from === to ? [] : [`moving the event subscription from ${from} to ${to}: ${from} gets no more events of it`]
}

function withoutQuery(url: string): string {
  if (!URL.canParse(url)) return url
  const { origin, pathname } = new URL(url)
  return origin + pathname
}

/** The value of our delivery attribute as it exists in Azure. */
export function credentialsOf(webHook: WebHookProperties | undefined): string | undefined {
  const attribute = webHook?.deliveryAttributeMappings?.find(isOurAttribute)
  return attribute?.type === 'Static' ? attribute.properties?.value : undefined
}

/** The lower-case names of the delivery attributes that an event subscription declares, without ours, as deliveries have them. */
export function declaredAttributes(existing: SubscriptionProperties): readonly string[] {
  const attributes = webHookOf(existing)?.deliveryAttributeMappings ?? []
  const names = attributes.flatMap((one) => (one.name === undefined || isOurAttribute(one) ? [] : one.name))
  // Handlers get this very list.
  return Object.freeze(names.map((name) => name.toLowerCase()))
}

/** Our attribute, with this value. */
export const ourAttribute = (value: string) => ({
  name: deliveryTokenHeader,
  type: 'Static',
  properties: { value, isSecret: true },
})

/** Leaves out what no replica wrote, such as the word `Hidden` that ARM shows in place of a secret. */
const credentialPattern = /^[\w-]{1,100}\.[\w-]{1,200}$/

/**
 * Adds our credential to the delivery attribute, in front of those of other replicas. Replicas of an old and a new
 * version run side by side during a roll-out, and each must find its own.
 *
 * @returns the `value` to write (the existing one where it holds ours already), whether ours was `added`, and how many
 * credentials of others had to go, the oldest first
 */
export function mergeCredentials(existing: string | undefined, ours: string) {
  const standing = existing ?? ''
  const present = splitDeliveryCredentials(standing)
  if (present.includes(ours)) return { value: standing, added: false, removed: 0 }
  const others = [...new Set(present)].filter((credential) => credentialPattern.test(credential))
  const kept = others.slice(0, maxCredentials - 1)
  return { value: [ours, ...kept].join(','), added: true, removed: others.length - kept.length }
}
