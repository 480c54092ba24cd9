import type { EmulatorContext } from '../context.ts'
import { eventId } from '../model/accepted-event.ts'
import type { EventSubscription, WebHookProperties } from '../model/model.ts'
import type { DeliveryRecord } from '../records/record-types.ts'
import { recordedBodyLimit } from '../records/records.ts'
import { deadLetterDestinationOf } from './dead-letter.ts'
import { bodyOf, type DeliveryPlan, deliveryHeaders, deliveryPlan, shownHeaders, shownUrl } from './delivery-request.ts'
import { createDeliveryTokens } from './delivery-tokens.ts'
import type { EventTexts } from './event-texts.ts'
import type { PendingEvent, Sent } from './subscription-queue.ts'
import type { WebhookClient, WebhookResult } from './webhook-client.ts'
import type { WorkCounter } from './work-counter.ts'

/** How long a subscriber has for its answer, by the emulator's clock (Event Grid: delivery-and-retry). */
const deliveryTimeoutMs = 30_000

/**
 * An answer that comes within three minutes of the request may still spare the next try
 * (Event Grid: delivery-and-retry).
 */
const lateAnswerMs = 180_000 - deliveryTimeoutMs

/** Sends one bundle of events to its subscriber and records the try. */
export type Deliver = (subscription: EventSubscription, bundle: readonly PendingEvent[], sent: Sent) => Promise<void>

/** Makes the function that does one try. */
export function createDeliver(
  context: EmulatorContext,
  client: WebhookClient,
  texts: EventTexts,
  work: WorkCounter,
): Deliver {
  const { clock, faults, records, watcher } = context
  const bearerToken = createDeliveryTokens(context)

  /** Waiting for the clock is nothing under way: a clock moved by hand waits until nothing is. */
  async function delayed(ms: number): Promise<void> {
    work.end()
    await new Promise<void>((resolve) => clock.setTimer(ms, resolve))
    work.begin()
  }

  async function request(
    webhook: WebHookProperties,
    url: URL,
    headers: Readonly<Record<string, string>>,
    body: string,
    late: (status: number) => void,
  ): Promise<WebhookResult> {
    const fault = faults.take('delivery', { method: 'POST', url: url.href })
    if (fault?.delayMs) await delayed(fault.delayMs)
    const unsent = { target: url.href, durationMs: 0 }
    if (fault?.drop) {
      return { ...unsent, failure: { outcome: 'SocketError', message: 'A fault closed the connection.' } }
    }
    if (fault?.status !== undefined) return { ...unsent, status: fault.status }
    return client.send({
      method: 'POST',
      url,
      headers,
      body,
      timeoutMs: deliveryTimeoutMs,
      minimumTlsVersion: webhook.minimumTlsVersionAllowed,
      late: { withinMs: lateAnswerMs, take: late },
    })
  }

  // A subscription is a value: another one comes with each change.
  const plans = new WeakMap<EventSubscription, DeliveryPlan>()
  const planOf = (subscription: EventSubscription): DeliveryPlan | undefined => {
    const plan = plans.get(subscription) ?? deliveryPlan(subscription)
    if (plan) plans.set(subscription, plan)
    return plan
  }
  const shownTarget = createShownTarget()

  return async (subscription, bundle, sent) => {
    const [first] = bundle
    const plan = planOf(subscription)
    if (!first || !plan) return
    const { webhook, schema, form, url } = plan
    const at = clock.now()
    const deliveryCount = first.attempts
    let headers: Record<string, string> = {}
    let body = ''
    let result: WebhookResult
    try {
      const token = await bearerToken(webhook)
      headers = deliveryHeaders({ subscription, form, event: first.event, deliveryCount, bearerToken: token })
      body = bodyOf(
        schema,
        form,
        bundle.map(({ event }) => texts.text(event, schema)),
      )
      result = await request(webhook, url, headers, body, answeredLate)
    } catch (error) {
      // Whatever can't be sent must not stop the queue: it is a failed try like any other.
      const message = error instanceof Error ? error.message : String(error)
      result = { target: url.href, durationMs: 0, failure: { outcome: 'Aborted', message } }
    }
    const next = sent.settle(result)
    const givenUp = deadLetterDestinationOf(subscription) ? 'dead-lettered' : 'dropped'
    const record: DeliveryRecord = {
      at,
      subscriptionId: subscription.id,
      subscriptionName: subscription.name,
      url: plan.shownUrl,
      target: shownTarget(result.target),
      headers: shownHeaders(headers, plan.secretHeaders),
      body: body.length > recordedBodyLimit ? firstPart(body, recordedBodyLimit) : body,
      eventIds: bundle.map(({ event }) => eventId(event)),
      deliveryCount,
      outcome: next.outcome === 'given up' ? givenUp : next.outcome,
      durationMs: result.durationMs,
      ...(result.status !== undefined && { status: result.status }),
      ...(result.failure && { error: reasonOf(result.failure) }),
      ...(next.nextTryAt !== undefined && { nextTryAt: next.nextTryAt }),
    }
    const events = bundle.map(({ event }) => event)
    tell(record)

    function answeredLate(status: number): void {
      if (!sent.answeredLate(status)) return
      const { error: _timedOut, nextTryAt: _spared, ...rest } = record
      tell({ ...rest, at: clock.now(), status, outcome: 'delivered' })
    }

    function tell(news: DeliveryRecord): void {
      records.deliveries.push(news)
      watcher?.tried(subscription, events, news)
    }
  }
}

/** Most deliveries go where the last one went. */
function createShownTarget(): (target: string) => string {
  let last = { target: '', shown: '' }
  return (target) => {
    if (target !== last.target) last = { target, shown: shownUrl(new URL(target)) }
    return last.shown
  }
}

/** A copy: V8 keeps the whole of a text alive for as long as there is a slice of it. */
function firstPart(text: string, length: number): string {
  return Buffer.from(text.slice(0, length)).toString()
}

function reasonOf({ outcome, message, hint }: NonNullable<WebhookResult['failure']>): string {
  return hint === undefined ? `${outcome}: ${message}` : `${outcome}: ${message}; ${hint}`
}
