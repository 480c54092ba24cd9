// What follows a delivery attempt: delivered, next try at, given up, late answer.
import { deliveredForm, type GiveUpReason, mappedEvent } from '../../model/events/accepted-event.ts'
import { type EventText, withMembers } from '../../model/events/event-text.ts'
import type { DeadLetterDestination } from '../../model/resources/destination.ts'
import type { DeliverySchema, EventSubscription } from '../../model/resources/event-subscription.ts'
import { preciseTime } from '../../model/wording.ts'
import type { DeliveryOptions } from '../delivery-options.ts'
import type { PendingEvent, WebhookResult } from '../send/channel.ts'
import { decideRetry, healthAfter, healthy, outcomeOf, reasonOfExpiry } from './retry-schedule.ts'
import type { Retries } from './waiting-events.ts'

type Result = Pick<WebhookResult, 'status' | 'failure'>

/** One delivery attempt: reports its result to the queue. */
export interface DeliveryAttempt {
  /** To be called once, with the result of the request. */
  finish(result: Result): AttemptResult
  /** The subscriber answered after its time-out. Returns whether that cancels the next attempt. */
  answeredLate(status: number): boolean
  /** Whether its events are forgotten: nothing is to be sent or recorded any more. */
  isForgotten(): boolean
}

/** The result of an attempt, for the record. */
export interface AttemptResult {
  readonly outcome: 'delivered' | 'retry' | 'given up' | 'dropped' | 'forgotten'
  readonly nextTryAt?: number
}

export interface AttemptResultOptions extends DeliveryOptions {
  readonly giveUp: (subscription: EventSubscription, event: PendingEvent, reason: GiveUpReason) => void
  /** An event left the queue without being given up: it was delivered or dropped. */
  readonly release: (event: PendingEvent) => void
  /** Asks for a call of `pump` at this time. */
  readonly wakeAt: (due: number) => void
}

interface AttemptContext {
  readonly subscription: EventSubscription
  readonly maxAttempts: number
  /** Whether its queue was dropped during the attempt. */
  readonly dropped: boolean
}

/** Carries out what follows from each attempt: an event is settled, waits for a retry, or is given up. */
export function createAttemptResults(subscriptionId: string, options: AttemptResultOptions, retries: Retries) {
  const { clock, settings, journal } = options
  let health = healthy

  function settle(event: PendingEvent): void {
    journal.settled(subscriptionId, event.row)
    options.release(event)
  }

  function giveUp(subscription: EventSubscription, event: PendingEvent, reason: GiveUpReason): void {
    journal.tried(subscriptionId, event.row, { ...attemptsOf(event), givenUp: reason })
    options.giveUp(subscription, event, reason)
  }

  return {
    /** Gives up an event whose time to live has ended. */
    expired(subscription: EventSubscription, event: PendingEvent, timeToLiveMs: number): void {
      giveUp(subscription, event, reasonOfExpiry(health, event.acceptedAt + timeToLiveMs))
    },
    finish(
      batch: readonly PendingEvent[],
      { status, failure }: Result,
      { subscription, maxAttempts, dropped }: AttemptContext,
    ): AttemptResult {
      const now = clock.now()
      const outcome = status === undefined ? (failure?.outcome ?? 'Aborted') : outcomeOf(status)
      if (settings.probation) health = healthAfter(health, outcome, now, settings.probation)
      const attempts = (batch[0]?.attempts ?? 0) + 1
      for (const event of batch) {
        Object.assign(event, { attempts, lastAttemptAt: now, lastOutcome: outcome, lastStatus: status })
      }
      if (dropped) {
        batch.forEach(options.release)
        return { outcome: outcome === 'Delivered' ? 'delivered' : 'dropped' }
      }
      if (outcome === 'Delivered') {
        batch.forEach(settle)
        return { outcome: 'delivered' }
      }
      const delays = settings.retrySchedule
      const decision = decideRetry({ status, outcome, attempts, maxAttempts, random: options.random(), delays })
      if ('giveUp' in decision) {
        for (const event of batch) giveUp(subscription, event, decision.giveUp)
        return { outcome: 'given up' }
      }
      const nextTryAt = now + decision.delayMs
      for (const event of batch) {
        journal.tried(subscriptionId, event.row, { ...attemptsOf(event), due: nextTryAt })
        retries.add(nextTryAt, event)
      }
      options.wakeAt(nextTryAt)
      return { outcome: 'retry', nextTryAt: Math.max(nextTryAt, health.probationUntil) }
    },
    /** Settles those events of a batch that wait for a retry; returns how many. */
    settleWaiting(batch: readonly PendingEvent[]): number {
      const cancelled = retries.cancel(batch)
      cancelled.forEach(settle)
      return cancelled.length
    },
    /** Nothing is sent before this time: the endpoint is on probation. */
    get pausedUntil() {
      return health.probationUntil
    },
    endPause(): void {
      health = { ...health, probationUntil: 0 }
    },
    /** The endpoint is another one, or has just consented: what failed before says nothing of it. */
    forgetFailures(): void {
      health = healthy
    },
  }
}

const attemptsOf = ({ attempts, systemId, lastAttemptAt, lastOutcome, lastStatus }: PendingEvent) => ({
  attempts,
  systemId,
  lastAttemptAt,
  lastOutcome,
  lastStatus,
})

export function deadLetterDestinationOf(subscription: EventSubscription): DeadLetterDestination | undefined {
  const { deadLetterDestination, deadLetterWithResourceIdentity } = subscription.properties
  return deadLetterDestination ?? deadLetterWithResourceIdentity?.deadLetterDestination
}

/**
 * The event in its delivery schema, with the reasons for dead-lettering added. An event of a custom schema becomes the
 * data of an Event Grid event.
 */
export function deadLetteredForm(given: PendingEvent, reason: GiveUpReason, schema: DeliverySchema): EventText {
  const { event } = given
  const added = {
    deadLetterReason: reason,
    deliveryAttempts: given.attempts,
    lastDeliveryOutcome:
      reason === 'UndeliverableDueToProbationCausedByClientError' ? 'Probation' : (given.lastOutcome ?? 'Probation'),
    ...(given.lastStatus !== undefined && { lastHttpStatusCode: given.lastStatus }),
    publishTime: preciseTime(given.acceptedAt),
    ...(given.lastAttemptAt !== undefined && { lastDeliveryAttemptTime: preciseTime(given.lastAttemptAt) }),
  }
  if (schema !== 'CloudEventSchemaV1_0') return withMembers(mappedEvent(event), added)
  // Attributes of a CloudEvent have names in lower case.
  const attributes = Object.entries(added).map(([name, value]) => [name.toLowerCase(), value])
  return withMembers(deliveredForm(event, schema), Object.fromEntries(attributes))
}
