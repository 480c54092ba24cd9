// One delivery request and its record; injected delivery faults, redacted cookies, shortened body.
import { messageOf } from '../../../../../src/support/process/error-code.ts'
import { eventId, eventType } from '../../model/events/accepted-event.ts'
import type { EventSubscription } from '../../model/resources/event-subscription.ts'
import type { DeliveryRecord } from '../../records/record-types.ts'
import { recordedBodyLimit } from '../../records/records.ts'
import type { DeliveryOptions } from '../delivery-options.ts'
import type { PendingEvent, PreparedRequest, WebhookResult } from '../send/channel.ts'
import { shownAnswer, shownSentHeaders, shownUrl } from '../send/delivery-request.ts'
import type { Channels } from '../send/destinations.ts'
import { type DeliveryAttempt, deadLetterDestinationOf } from './attempt-results.ts'

/** Sends a batch of events to its subscriber once, and records the attempt. */
export type Deliver = (
  subscription: EventSubscription,
  batch: readonly PendingEvent[],
  attempt: DeliveryAttempt,
) => Promise<void>

export function createDeliver(options: DeliveryOptions, channels: Channels): Deliver {
  const { clock, faults, records, trail, work } = options

  /** Sends a request, unless a fault takes its place. */
  async function send(
    url: URL,
    request: PreparedRequest,
    attempt: DeliveryAttempt,
    late: (status: number) => void,
  ): Promise<WebhookResult> {
    const fault = faults.take('delivery', { method: 'POST', url: url.href })
    const { takenBack } = faults
    if (fault?.delayMs) await work.pause(clock, fault.delayMs, takenBack)
    const unsent = { target: url.href, durationMs: 0 }
    if (attempt.isForgotten()) return unsent
    if (fault && !takenBack.aborted) {
      if (fault.drop) {
        return { ...unsent, failure: { outcome: 'SocketError', message: 'A fault closed the connection.' } }
      }
      if (fault.status !== undefined) return { ...unsent, status: fault.status }
    }
    return request.send(late)
  }

  return async (subscription, batch, attempt) => {
    const [first, ...more] = batch
    const channel = channels(subscription)
    if (!first || !channel) return
    const { url, shownUrl: subscribedUrl, secretHeaders } = channel
    const at = clock.now()
    const deliveryCount = first.attempts
    let [headers, body]: [Readonly<Record<string, string>>, string] = [{}, '']
    let result: WebhookResult
    try {
      const request = await channel.prepare([first, ...more])
      headers = request.headers
      body = request.body
      result = await send(url, request, attempt, answeredLate)
    } catch (error) {
      // A request that can't be sent must not stop the queue: it is a failed attempt.
      result = { target: url.href, durationMs: 0, failure: { outcome: 'Aborted', message: messageOf(error) } }
    }
    const next = attempt.finish(result)
    if (next.outcome === 'forgotten') return
    const givenUp = deadLetterDestinationOf(subscription) ? 'dead-lettered' : 'dropped'
    const record: DeliveryRecord = {
      at,
      subscriptionId: subscription.id,
      subscriptionName: subscription.name,
      url: subscribedUrl,
      target: shownUrl(new URL(result.target)),
      headers: shownSentHeaders(headers, secretHeaders),
      body: body.length > recordedBodyLimit ? firstPart(body, recordedBodyLimit) : body,
      eventIds: batch.map(({ event }) => eventId(event)),
      eventTypes: batch.map(({ event }) => eventType(event)),
      deliveryCount,
      outcome: next.outcome === 'given up' ? givenUp : next.outcome,
      durationMs: result.durationMs,
      ...(result.status !== undefined && { status: result.status }),
      ...shownAnswer(result, [url, new URL(result.target)]),
      ...(result.hint !== undefined && { error: result.hint }),
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
      trail?.tried(subscription, events, attempted)
    }
  }
}

/** The first part of a text as a copy: V8 keeps the whole text in memory while a slice of it exists. */
function firstPart(text: string, length: number): string {
  return Buffer.from(text.slice(0, length)).toString()
}

function reasonOf({ outcome, message, hint }: NonNullable<WebhookResult['failure']>): string {
  return hint === undefined ? `${outcome}: ${message}` : `${outcome}: ${message}; ${hint}`
}
