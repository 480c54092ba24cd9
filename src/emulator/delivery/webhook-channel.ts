import type { Channels } from './channel.ts'
import {
  batchingOf,
  bodyOf,
  deliveryHeaders,
  deliverySchemaOf,
  secretHeadersOf,
  shownUrl,
  webhookOf,
} from './delivery-request.ts'
import { createDeliveryTokens, type DeliveryTokenOptions } from './delivery-tokens.ts'
import type { EventTexts } from './event-texts.ts'
import type { WebhookClient } from './webhook-client.ts'

/** A subscriber must answer within this time of the emulator's clock (Event Grid: delivery-and-retry). */
const deliveryTimeoutMs = 30_000

/** An answer within three minutes of the request may still cancel the next attempt (Event Grid: delivery-and-retry). */
const lateAnswerMs = 180_000 - deliveryTimeoutMs

export function createWebhookChannels(
  options: DeliveryTokenOptions,
  { client, texts }: { readonly client: WebhookClient; readonly texts: EventTexts },
): Channels {
  const bearerToken = createDeliveryTokens(options)
  return (subscription) => {
    const webhook = webhookOf(subscription)
    if (!webhook) return undefined
    const url = new URL(webhook.endpointUrl)
    const schema = deliverySchemaOf(subscription)
    const form = batchingOf(webhook) ? 'batch' : 'single'
    return {
      ...{ url, shownUrl: shownUrl(url), secretHeaders: secretHeadersOf(webhook) },
      async prepare(batch) {
        const [{ event, attempts: deliveryCount }] = batch
        const token = await bearerToken(webhook)
        const headers = deliveryHeaders({ subscription, form, event, deliveryCount, bearerToken: token })
        const events = batch.map((pending) => texts.text(pending.event, schema))
        const body = bodyOf(schema, form, events)
        return {
          ...{ headers, body },
          send: (late) =>
            client.send({
              method: 'POST',
              ...{ url, headers, body },
              timeoutMs: deliveryTimeoutMs,
              minimumTlsVersion: webhook.minimumTlsVersionAllowed,
              late: { withinMs: lateAnswerMs, take: late },
            }),
        }
      },
    }
  }
}
