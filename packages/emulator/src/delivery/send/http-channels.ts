// Delivery by HTTP, to web hooks and to functions: URL, time-out, late answer within three minutes; Entra bearer token of secured
// deliveries, reused for 60 seconds.
import { deliveredText } from '../../model/events/accepted-event.ts'
import { batchingOf, type DestinationProperties, type WebHookProperties } from '../../model/resources/destination.ts'
import { destinationOf, type EventSubscription } from '../../model/resources/event-subscription.ts'
import { answerTimeoutMs, type DeliveryOptions } from '../delivery-options.ts'
import type { Channel } from './channel.ts'
import { bodyOf, deliveryHeaders, deliverySchemaOf, secretHeadersOf, shownUrl } from './delivery-request.ts'
import { functionUrl, noHostOf } from './functions.ts'
import type { WebhookClient } from './webhook-client.ts'

/**
 * An answer within three minutes of the request may still cancel the next attempt (Event Grid: delivery-and-retry): so long after the
 * time-out, by the emulator's clock as the next attempt.
 */
const lateAnswerMs = 180_000 - answerTimeoutMs

/** A token is used this long for all deliveries to its audience: signing is slower than the rest of a delivery. */
const tokenReuseMs = 60_000

export function createHttpChannels(options: DeliveryOptions, client: WebhookClient) {
  const bearerToken = createDeliveryTokens(options)

  function channelOf(
    subscription: EventSubscription,
    to: Pick<Channel, 'url' | 'shownUrl'>,
    tokenOf: () => Promise<string | undefined>,
  ): Channel {
    const { url } = to
    const schema = deliverySchemaOf(subscription)
    const form = batchingOf(destinationOf(subscription.properties)) ? 'batch' : 'single'
    return {
      ...{ ...to, secretHeaders: secretHeadersOf(subscription) },
      async prepare(batch) {
        const [{ event, type: eventType, attempts: deliveryCount }] = batch
        const token = await tokenOf()
        const headers = deliveryHeaders({ subscription, form, event, eventType, deliveryCount, bearerToken: token })
        const events = batch.map((pending) => deliveredText(pending.event, schema))
        const body = bodyOf(schema, form, events)
        return {
          ...{ headers, body },
          send: (late) =>
            client.send({
              method: 'POST',
              ...{ url, headers, body },
              timeoutMs: options.settings.answerTimeout,
              late: { withinMs: lateAnswerMs, take: late },
            }),
        }
      },
    }
  }

  return {
    webHook(subscription: EventSubscription, webhook: WebHookProperties): Channel {
      const url = new URL(webhook.endpointUrl)
      return channelOf(subscription, { url, shownUrl: shownUrl(url) }, () => bearerToken(webhook))
    },
    /** A text says that no host serves the function. */
    azureFunction(
      subscription: EventSubscription,
      { resourceId }: DestinationProperties<'AzureFunction'>,
    ): Channel | string {
      const url = functionUrl(options.settings.functions, resourceId)
      return url ? channelOf(subscription, { url, shownUrl: resourceId }, async () => undefined) : noHostOf(resourceId)
    },
  }
}

/** Returns the bearer token of an Entra-secured delivery; undefined for other webhooks. */
function createDeliveryTokens({ clock, tokens, deliveryTokenVersion }: DeliveryOptions) {
  const issued = new Map<string, { readonly token: Promise<string>; readonly at: number }>()
  return async (webhook: WebHookProperties): Promise<string | undefined> => {
    const { azureActiveDirectoryTenantId: tenantId, azureActiveDirectoryApplicationIdOrUri: audience } = webhook
    if (!tenantId || !audience) return undefined
    const key = `${tenantId} ${audience}`
    const now = clock.now()
    const known = issued.get(key)
    if (known && now - known.at < tokenReuseMs) return known.token
    const token = tokens.issueDeliveryToken({ tenantId, audience, version: deliveryTokenVersion })
    issued.set(key, { token, at: now })
    token.catch(() => issued.delete(key))
    return token
  }
}
