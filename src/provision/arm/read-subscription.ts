// Reading the event subscription, with its full URL and secret attributes from extra calls.
import type { DeliveryAttributeMappingUnion, EventSubscription } from '@azure/arm-eventgrid'
import { isRestError } from '@azure/core-rest-pipeline'
import { isRecord } from '../../support/text/is-record.ts'
import { readJson } from '../../support/text/json-text.ts'
import { isStatic, isWebHook } from '../decide/canonical-subscription.ts'
import { type ExistingSubscription, isChanging } from '../decide/decide-upsert.ts'
import { judgeFailure } from '../explain/judge-failure.ts'
import { ArmFailureError, readFailure } from './arm-failure.ts'
import { findUnknownSettings } from './carry-over.ts'
import type { SubscriptionCalls } from './subscription-calls.ts'

type CallOptions = () => NonNullable<Parameters<SubscriptionCalls['get']>[0]>

/**
 * Reads an event subscription. Its full URL and the values of secret attributes have calls of their own, which `plain` leaves out.
 *
 * @param callOptions of one call; a later call has less time left
 */
export async function readSubscription(
  calls: SubscriptionCalls,
  callOptions: CallOptions,
  detail?: 'plain',
): Promise<ExistingSubscription | undefined> {
  let text: string | null | undefined
  const onResponse = (response: { readonly bodyAsText?: string | null }) => {
    text = response.bodyAsText
  }
  try {
    const subscription = await calls.get({ ...callOptions(), onResponse })
    const properties = readProperties(text)
    if (!properties) {
      const message = 'the answer is not an event subscription; a proxy may have answered instead of ARM'
      throw new ArmFailureError({ kind: 'network', message })
    }
    const unknownSettings = findUnknownSettings(properties)
    const isEnough = detail === 'plain' || isChanging(subscription)
    const complete = isEnough ? subscription : await withHidden(subscription, calls, callOptions)
    return { subscription: complete, unknownSettings }
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

async function withHidden(
  subscription: EventSubscription,
  calls: SubscriptionCalls,
  callOptions: CallOptions,
): Promise<EventSubscription> {
  const { destination } = subscription
  if (!isWebHook(destination)) return subscription
  // The service sends null where the SDK's types know only undefined.
  const mappings: readonly DeliveryAttributeMappingUnion[] = destination.deliveryAttributeMappings ?? []
  const hasSecret = mappings.some((mapping) => isStatic(mapping) && mapping.isSecret === true)
  const [{ endpointUrl }, attributes] = await Promise.all([
    calls.getFullUrl(callOptions()),
    hasSecret ? calls.getDeliveryAttributes(callOptions()) : undefined,
  ])
  const { endpointUrl: shownUrl, ...rest } = destination
  const url = endpointUrl ?? shownUrl
  return {
    ...subscription,
    destination: {
      ...rest,
      ...(url && { endpointUrl: url }),
      deliveryAttributeMappings: joinValues(mappings, attributes?.value ?? []),
    },
  }
}

/** The mappings, with the values of the secret ones from their own call. */
function joinValues(
  mappings: readonly DeliveryAttributeMappingUnion[],
  values: readonly DeliveryAttributeMappingUnion[],
): DeliveryAttributeMappingUnion[] {
  return mappings.map((mapping) => {
    if (!isStatic(mapping) || mapping.isSecret !== true) return mapping
    const revealed = values.filter(isStatic).find(({ name }) => name?.toLowerCase() === mapping.name?.toLowerCase())
    return revealed?.value ? { ...mapping, value: revealed.value } : mapping
  })
}

/**
 * Is there no event subscription? A read does not tell that from a missing scope, but by the error code; a write
 * does. The status, 404, means both.
 */
function isMissing(error: unknown): boolean {
  if (!isRestError(error) || error.statusCode !== 404) return false
  return judgeFailure({ ...readFailure(error, 0), status: undefined }) !== 'scope'
}

/** `properties` of a resource as JSON; `undefined` where the text has none. */
export function readProperties(text: string | null | undefined): Readonly<Record<string, unknown>> | undefined {
  const resource = readJson(text)
  return isRecord(resource) && isRecord(resource.properties) ? resource.properties : undefined
}
