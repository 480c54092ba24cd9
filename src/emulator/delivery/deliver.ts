import { eventId } from '../model/accepted-event.ts'
import type { EventSubscription, WebHookProperties } from '../model/model.ts'
import type { EventWatcher } from '../records/event-watcher.ts'
import type { DeliveryRecord, Records } from '../records/record-types.ts'
import { recordedBodyLimit } from '../records/records.ts'
import type { Faults } from '../server/faults.ts'
import type { DeliveryAttempt } from './attempt-results.ts'
import { deadLetterDestinationOf } from './dead-letter.ts'
import { bodyOf, type DeliveryPlan, deliveryHeaders, deliveryPlan, shownHeaders, shownUrl } from './delivery-request.ts'
import { createDeliveryTokens, type DeliveryTokenOptions } from './delivery-tokens.ts'
import type { EventTexts } from './event-texts.ts'
import type { PendingEvent } from './pending-event.ts'
import type { WebhookClient, WebhookResult } from './webhook-client.ts'
import type { WorkCounter } from './work-counter.ts'

/** A subscriber must answer within this time of the emulator's clock (Event Grid: delivery-and-retry). */
const deliveryTimeoutMs = 30_000

/** An answer within three minutes of the request may still cancel the next attempt (Event Grid: delivery-and-retry). */
const lateAnswerMs = 180_000 - deliveryTimeoutMs

export interface DeliverOptions extends DeliveryTokenOptions {
  readonly faults: Faults
  readonly records: Pick<Records, 'deliveries'>
  readonly watcher?: EventWatcher
}

/** Sends a batch of events to its subscriber once, and records the attempt. */
export type Deliver = (
  subscription: EventSubscription,
  batch: readonly PendingEvent[],
  attempt: DeliveryAttempt,
) => Promise<void>

export function createDeliver(
  options: DeliverOptions,
  { client, texts, work }: { readonly client: WebhookClient; readonly texts: EventTexts; readonly work: WorkCounter },
): Deliver {
  const { clock, faults, records, watcher } = options
  const bearerToken = createDeliveryTokens(options)

  /** This wait is not counted as work under way: a manual clock advances only when nothing is under way. */
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

  // A subscription is immutable: each change makes a new object.
  const plans = new WeakMap<EventSubscription, DeliveryPlan>()
  const planOf = (subscription: EventSubscription): DeliveryPlan | undefined => {
    const plan = plans.get(subscription) ?? deliveryPlan(subscription)
    if (plan) plans.set(subscription, plan)
    return plan
  }
  const shownTarget = createShownTarget()

  return async (subscription, batch, attempt) => {
    const [first] = batch
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
        batch.map(({ event }) => texts.text(event, schema)),
      )
      result = await request(webhook, url, headers, body, answeredLate)
    } catch (error) {
      // A request that can't be sent must not stop the queue: it is a failed attempt.
      const message = error instanceof Error ? error.message : String(error)
      result = { target: url.href, durationMs: 0, failure: { outcome: 'Aborted', message } }
    }
    const next = attempt.finish(result)
    const givenUp = deadLetterDestinationOf(subscription) ? 'dead-lettered' : 'dropped'
    const record: DeliveryRecord = {
      at,
      subscriptionId: subscription.id,
      subscriptionName: subscription.name,
      url: plan.shownUrl,
      target: shownTarget(result.target),
      headers: shownHeaders(headers, plan.secretHeaders),
      body: body.length > recordedBodyLimit ? firstPart(body, recordedBodyLimit) : body,
      eventIds: batch.map(({ event }) => eventId(event)),
      deliveryCount,
      outcome: next.outcome === 'given up' ? givenUp : next.outcome,
      durationMs: result.durationMs,
      ...(result.status !== undefined && { status: result.status }),
      ...(result.headers && { responseHeaders: withoutCookies(result.headers) }),
      ...(result.body !== undefined && { responseBody: result.body }),
      ...(result.failure && { error: reasonOf(result.failure) }),
      ...(next.nextTryAt !== undefined && { nextTryAt: next.nextTryAt }),
    }
    const events = batch.map(({ event }) => event)
    report(record)

    function answeredLate(status: number): void {
      if (!attempt.answeredLate(status)) return
      const { error: _timedOut, nextTryAt: _cancelled, ...rest } = record
      report({ ...rest, at: clock.now(), status, outcome: 'delivered' })
    }

    function report(attempted: DeliveryRecord): void {
      records.deliveries.push(attempted)
      watcher?.tried(subscription, events, attempted)
    }
  }
}

/** Remembers the last URL: most deliveries go to the same one. */
function createShownTarget(): (target: string) => string {
  let last = { target: '', shown: '' }
  return (target) => {
    if (target !== last.target) last = { target, shown: shownUrl(new URL(target)) }
    return last.shown
  }
}

function withoutCookies(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return headers['set-cookie'] === undefined ? headers : { ...headers, 'set-cookie': '(redacted)' }
}

/** The first part of a text as a copy: V8 keeps the whole text in memory while a slice of it exists. */
function firstPart(text: string, length: number): string {
  return Buffer.from(text.slice(0, length)).toString()
}

function reasonOf({ outcome, message, hint }: NonNullable<WebhookResult['failure']>): string {
  return hint === undefined ? `${outcome}: ${message}` : `${outcome}: ${message}; ${hint}`
}
