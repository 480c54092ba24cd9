// Reading and showing the settings of Queue event subscriptions in ARM.
import { z } from 'zod'
import { isRecord } from '../../../support/text/is-record.ts'
import {
  type QueueSubscriptionProperties,
  queueSubscriptionSettings,
} from '../../model/resources/queue-subscription.ts'
import { armErrors } from '../call/errors.ts'
import { withoutEmptyExpiry, withoutNulls } from '../call/without-nulls.ts'

/**
 * Reads the settings of a Queue event subscription from the body of a PUT, or of a PATCH over the existing ones.
 * Throws an ArmError.
 */
export function parseQueueSubscription(
  body: unknown,
  existing: QueueSubscriptionProperties | undefined,
): QueueSubscriptionProperties {
  const given = z.object({ properties: z.record(z.string(), z.unknown()).default({}) }).safeParse(withoutNulls(body))
  const wanted = given.success ? given.data.properties : {}
  const delivery = isRecord(wanted.deliveryConfiguration) && {
    deliveryConfiguration: { ...existing?.deliveryConfiguration, ...wanted.deliveryConfiguration },
  }
  const parsed = queueSubscriptionSettings.safeParse({ ...existing, ...withoutEmptyExpiry(wanted), ...delivery })
  if (given.success && parsed.success) return parsed.data
  const path = parsed.error?.issues[0]?.path.join('.') ?? 'properties'
  if (path === 'deliveryConfiguration.deliveryMode') {
    throw armErrors.notSupported('event subscriptions of a namespace that are not of the delivery mode Queue')
  }
  throw armErrors.invalidEventSubscription(`property '${path}' is invalid.`)
}

/** An event subscription's properties in ARM's shape. */
export function viewQueueSubscription({ deliveryConfiguration, ...rest }: QueueSubscriptionProperties) {
  return {
    properties: {
      eventDeliverySchema: 'CloudEventSchemaV1_0',
      ...rest,
      deliveryConfiguration: {
        deliveryMode: 'Queue',
        queue: { receiveLockDurationInSeconds: 60, maxDeliveryCount: 10, ...deliveryConfiguration.queue },
      },
    },
  }
}
