/** Our delivery attribute in the event subscription: one to three credentials, ours before those of other replicas. */
import { deliveryTokenHeader, splitDeliveryCredentials } from '../core/delivery-credential.ts'
import {
  type DeliveryAttribute,
  type Destination,
  isNothing,
  type SubscriptionProperties,
  type WebHookProperties,
  webHookOf,
} from './values.ts'

/** What ARM gives in place of a secret attribute's value. */
const hiddenValue = 'Hidden'

/** Is it the attribute that carries our credentials? */
export const isOurAttribute = ({ name }: DeliveryAttribute): boolean =>
  name?.toLowerCase() === deliveryTokenHeader.toLowerCase()

/** The value of our delivery attribute as it exists in Azure. */
export function credentialsOf(webHook: WebHookProperties | undefined): string | undefined {
  const attribute = webHook?.deliveryAttributeMappings?.find(isOurAttribute)
  return attribute?.type === 'Static' ? attribute.properties?.value : undefined
}

/** The lower-case names of the delivery attributes that an event subscription declares, as the headers of deliveries have them. */
export function declaredAttributes(existing: SubscriptionProperties): ReadonlySet<string> {
  const attributes = webHookOf(existing)?.deliveryAttributeMappings ?? []
  return new Set(attributes.flatMap(({ name }) => (name === undefined ? [] : [name.toLowerCase()])))
}

/** Our attribute, with this value. */
export const ourAttribute = (value: string) => ({
  name: deliveryTokenHeader,
  type: 'Static',
  properties: { value, isSecret: true },
})

/** The name of an attribute of somebody else whose value ARM did not tell, so that a write of this destination would lose it. */
export function unreadableAttribute(destination: Destination | undefined): string | undefined {
  const unread = destination?.properties?.deliveryAttributeMappings?.find(
    (attribute) => !isOurAttribute(attribute) && !isTold(attribute),
  )
  return unread && (unread.name ?? 'without a name')
}

/** Is its value known? ARM leaves out what it does not tell, or has a word in its place. An empty value is none: Event Grid takes none. */
export function isTold({ type, properties: { value, isSecret, sourceField } = {} }: DeliveryAttribute): boolean {
  if (type === 'Dynamic') return !isNothing(sourceField)
  return !isNothing(value) && !(isSecret === true && value === hiddenValue)
}

/** The most credentials that the delivery attribute holds: enough for a rotation that starts before the last one ended. */
export const maxCredentials = 3

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
