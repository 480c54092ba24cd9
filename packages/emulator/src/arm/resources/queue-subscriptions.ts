// Reading and showing the settings of Queue event subscriptions in ARM.
import { z } from 'zod'
import { isRecord } from '../../../../../src/support/text/json-text.ts'
import { durationSeconds } from '../../../../../src/support/time/clock.ts'
import { plainWords } from '../../model/plain-words.ts'
import {
  type QueueSubscriptionProperties,
  queueSubscriptionSettings,
} from '../../model/resources/queue-subscription.ts'
import { armErrors } from '../call/errors.ts'
import { withoutEmptyExpiry, withoutNulls } from '../call/without-nulls.ts'

export interface QueueWriteContext {
  /** The existing settings, for PATCH. */
  readonly existing?: QueueSubscriptionProperties | undefined
  /** The `eventRetentionInDays` of the topic. */
  readonly retentionDays: number
}

const daySeconds = 24 * 3600

/** Throws an ArmError. */
function checkTimeToLive(
  { deliveryConfiguration: { queue } }: QueueSubscriptionProperties,
  retentionDays: number,
): void {
  const seconds = queue?.eventTimeToLive === undefined ? undefined : durationSeconds(queue.eventTimeToLive)
  if (seconds === undefined || (seconds >= 60 && seconds <= retentionDays * daySeconds)) return
  throw armErrors.invalidEventSubscription(
    `property 'deliveryConfiguration.queue.eventTimeToLive' is invalid. It must be PT1M at least and the topic's ` +
      `retention at most, P${retentionDays}D.`,
  )
}

/**
 * Reads the settings of a Queue event subscription from the body of a PUT, or of a PATCH over the existing ones.
 * Throws an ArmError.
 */
export function parseQueueSubscription(
  body: unknown,
  { existing, retentionDays }: QueueWriteContext,
): QueueSubscriptionProperties {
  const given = z.object({ properties: z.record(z.string(), z.unknown()).default({}) }).safeParse(withoutNulls(body))
  const wanted = given.success ? given.data.properties : {}
  const delivery = isRecord(wanted.deliveryConfiguration) && {
    deliveryConfiguration: { ...existing?.deliveryConfiguration, ...wanted.deliveryConfiguration },
  }
  const parsed = queueSubscriptionSettings.safeParse(
    { ...existing, ...withoutEmptyExpiry(wanted), ...delivery },
    { error: plainWords },
  )
  const { queue: wantedQueue } = Object(wanted.deliveryConfiguration)
  if (isRecord(wantedQueue) && 'deliveryRetryPeriodInDays' in wantedQueue) {
    throw armErrors.notSupported('deliveryRetryPeriodInDays, which no api-version has')
  }
  if (given.success && parsed.success) {
    checkTimeToLive(parsed.data, retentionDays)
    return parsed.data
  }
  const [issue] = parsed.error?.issues ?? []
  const at = (issue?.path ?? ['properties']).map((part) => (typeof part === 'number' ? part : String(part)))
  if (at.join('.') === 'deliveryConfiguration.deliveryMode') {
    throw armErrors.notSupported('event subscriptions of a namespace that are not of the delivery mode Queue', at)
  }
  throw armErrors.invalidProperty(at, issue?.message ?? 'is not taken')
}

/** The settings of a Queue event subscription that options declare. Throws an ArmError that says what is wrong with them. */
export const declaredQueueProperties = (properties: Readonly<Record<string, unknown>> = {}, retentionDays: number) =>
  parseQueueSubscription(
    { properties: { deliveryConfiguration: { deliveryMode: 'Queue' }, ...properties } },
    { retentionDays },
  )

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
