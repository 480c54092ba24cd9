import type { AcceptedEvent } from '../model/accepted-event.ts'
import type { Clock } from '../model/clock.ts'
import { canConvert } from '../model/convert-schema.ts'
import type { GiveUpReason } from '../model/delivery-outcome.ts'
import { compileFilter } from '../model/filters.ts'
import type { EventSubscription } from '../model/model.ts'
import type { Journal } from '../state/journal.ts'
import { takeBatch } from './batch.ts'
import type { DeliverySettings } from './delivery-options.ts'
import { deliverySchemaOf } from './delivery-request.ts'
import { DueQueue } from './due-queue.ts'
import { Fifo } from './fifo.ts'
import type { PendingEvent } from './pending-event.ts'
import { type EndpointHealth, healthAfter, healthy } from './probation.ts'
import { decideRetry, outcomeOf } from './retry-schedule.ts'
import type { WebhookResult } from './webhook-client.ts'
import type { WorkCounter } from './work-counter.ts'

/** One delivery attempt: reports its result to the queue. */
export interface DeliveryAttempt {
  /** To be called once, with the result of the request. */
  finish(result: Pick<WebhookResult, 'status' | 'failure'>): AttemptResult
  /** The subscriber answered after its time-out. Returns whether that cancels the next attempt. */
  answeredLate(status: number): boolean
}

/** The result of an attempt, for the record. */
export interface AttemptResult {
  readonly outcome: 'delivered' | 'retry' | 'given up'
  readonly nextTryAt?: number
}

/** What {@link createSubscriptionQueue} needs. */
export interface SubscriptionQueueOptions {
  readonly clock: Clock
  readonly random: () => number
  readonly settings: DeliverySettings
  readonly work: WorkCounter
  readonly journal: Journal
  /** Sends one request with a batch of events, and reports its result to `attempt`. */
  readonly send: (
    subscription: EventSubscription,
    batch: readonly PendingEvent[],
    attempt: DeliveryAttempt,
  ) => Promise<void>
  /** The bytes of an event in the delivery schema. */
  readonly sizeOf: (event: AcceptedEvent, subscription: EventSubscription) => number
  readonly giveUp: (subscription: EventSubscription, event: PendingEvent, reason: GiveUpReason) => void
  /** An event left the queue without being given up: it was delivered or dropped. */
  readonly release: (event: PendingEvent) => void
  /** Asks for a call of `pump` at this time. */
  readonly wakeAt: (due: number) => void
}

/** The events of one subscription that are neither delivered nor given up. */
export interface SubscriptionQueue {
  /** Applies new settings, to waiting events too. */
  use(subscription: EventSubscription): void
  /** Whether the subscription's filter matches an event. */
  matches(event: AcceptedEvent): boolean
  /** Adds an event without applying the filter. */
  add(event: PendingEvent, due?: number): void
  /** Sends what is due. */
  pump(): void
  /** Drops waiting events, and ignores the answers of requests under way. */
  drop(): void
  readonly size: number
}

const defaultPolicy = { maxDeliveryAttempts: 30, eventTimeToLiveInMinutes: 1440 } as const

/** Makes the queue of a subscription. */
export function createSubscriptionQueue(
  first: EventSubscription,
  options: SubscriptionQueueOptions,
): SubscriptionQueue {
  const { clock, settings, work } = options
  const ready = new Fifo<PendingEvent>()
  const retries = createRetries()
  let subscription = first
  let matches = compileFilter(first.properties.filter)
  let health: EndpointHealth = healthy
  let requests = 0
  let eventsUnderWay = 0
  let dropped = false

  const policy = () => ({ ...defaultPolicy, ...subscription.properties.retryPolicy })

  function giveUp(events: readonly PendingEvent[], reason: GiveUpReason): void {
    for (const event of events) {
      options.journal.tried(subscription.id, event.row, { ...attemptsOf(event), givenUp: reason })
      options.giveUp(subscription, event, reason)
    }
  }

  function finish(batch: readonly PendingEvent[], result: Pick<WebhookResult, 'status' | 'failure'>): AttemptResult {
    const now = clock.now()
    const outcome = result.status === undefined ? (result.failure?.outcome ?? 'Aborted') : outcomeOf(result.status)
    if (settings.probation) health = healthAfter(health, outcome, now, settings.probation)
    const attempts = (batch[0]?.attempts ?? 0) + 1
    for (const event of batch) {
      Object.assign(event, { attempts, lastAttemptAt: now, lastOutcome: outcome, lastStatus: result.status })
    }
    if (outcome === 'Delivered') {
      for (const event of batch) settle(event)
      return { outcome: 'delivered' }
    }
    if (dropped) {
      for (const event of batch) options.release(event)
      return { outcome: 'given up' }
    }
    const decision = decideRetry({
      status: result.status,
      attempts,
      maxAttempts: policy().maxDeliveryAttempts,
      random: options.random(),
      delays: settings.retrySchedule,
    })
    if ('giveUp' in decision) {
      giveUp(batch, decision.giveUp)
      return { outcome: 'given up' }
    }
    const nextTryAt = now + decision.delayMs
    for (const event of batch) {
      options.journal.tried(subscription.id, event.row, { ...attemptsOf(event), due: nextTryAt })
      retries.add(nextTryAt, event)
    }
    options.wakeAt(nextTryAt)
    return { outcome: 'retry', nextTryAt }
  }

  function settle(event: PendingEvent): void {
    options.journal.settled(subscription.id, event.row)
    options.release(event)
  }

  function send(batch: readonly PendingEvent[]): void {
    work.begin()
    requests++
    eventsUnderWay += batch.length
    void options
      .send(subscription, batch, {
        finish(result) {
          requests--
          eventsUnderWay -= batch.length
          return finish(batch, result)
        },
        // Event Grid may or may not send the next attempt then (delivery-and-retry); the emulator does not.
        answeredLate(status) {
          if (dropped || outcomeOf(status) !== 'Delivered') return false
          const cancelled = retries.cancel(batch)
          cancelled.forEach(settle)
          return cancelled.length > 0
        },
      })
      .finally(() => {
        pump()
        work.end()
      })
  }

  function pump(): void {
    if (dropped) return
    const now = clock.now()
    for (let due = retries.take(now); due; due = retries.take(now)) ready.push(due)
    if (now < health.probationUntil) {
      if (ready.size > 0) options.wakeAt(health.probationUntil)
    } else {
      while (requests < settings.concurrency) {
        const batch = takeBatch(ready, {
          subscription,
          now,
          timeToLiveMs: policy().eventTimeToLiveInMinutes * 60_000,
          sizeOf: options.sizeOf,
          expired: (event) => giveUp([event], 'TimeToLiveExceeded'),
        })
        if (batch.length === 0) break
        send(batch)
      }
    }
    if (retries.nextDue !== undefined) options.wakeAt(retries.nextDue)
  }

  return {
    use(next) {
      subscription = next
      matches = compileFilter(next.properties.filter)
    },
    matches: (event) => canConvert(event.schema, deliverySchemaOf(subscription)) && matches(event),
    add(event, due = 0) {
      if (due > clock.now()) retries.add(due, event)
      else ready.push(event)
    },
    pump,
    drop() {
      dropped = true
      for (let next = ready.shift(); next; next = ready.shift()) options.release(next)
      for (let next = retries.take(Infinity); next; next = retries.take(Infinity)) options.release(next)
    },
    get size() {
      return ready.size + retries.size + eventsUnderWay
    },
  }
}

const attemptsOf = ({ attempts, lastAttemptAt, lastOutcome, lastStatus }: PendingEvent) => ({
  attempts,
  lastAttemptAt,
  lastOutcome,
  lastStatus,
})

/** Events that wait for their next attempt. A late answer of the subscriber may cancel it. */
function createRetries() {
  const waiting = new DueQueue<PendingEvent>()
  let cancelled = 0
  return {
    add(due: number, event: PendingEvent): void {
      event.waits = true
      waiting.add(due, event)
    },
    /** Takes out the next event that is due. */
    take(now: number): PendingEvent | undefined {
      for (let next = waiting.take(now); next; next = waiting.take(now)) {
        next.waits = false
        if (!next.answered) return next
        cancelled--
      }
      return undefined
    },
    /** Cancels the next attempt of those events that still wait for it; returns these. */
    cancel(events: readonly PendingEvent[]): PendingEvent[] {
      const found = events.filter(({ waits }) => waits)
      for (const event of found) {
        event.waits = false
        event.answered = true
        cancelled++
      }
      return found
    },
    get nextDue() {
      return waiting.nextDue
    },
    get size() {
      return waiting.size - cancelled
    },
  }
}
