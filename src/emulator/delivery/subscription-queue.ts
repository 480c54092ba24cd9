import type { AcceptedEvent } from '../model/accepted-event.ts'
import type { Clock } from '../model/clock.ts'
import { canConvert } from '../model/convert-schema.ts'
import type { EventSubscription } from '../model/model.ts'
import type { Journal } from '../state/journal.ts'
import type { DeliverySettings } from './delivery-options.ts'
import { batchingOf, deliverySchemaOf, webhookOf } from './delivery-request.ts'
import { DueQueue } from './due-queue.ts'
import { Fifo } from './fifo.ts'
import { compileFilter } from './filters.ts'
import type { Hold } from './pending-bytes.ts'
import { type EndpointHealth, healthAfter, healthy } from './probation.ts'
import { type DeliveryOutcome, decideRetry, type GiveUpReason, outcomeOf } from './retry-schedule.ts'
import type { WebhookResult } from './webhook-client.ts'
import type { WorkCounter } from './work-counter.ts'

/** An event on its way to one subscription. */
export interface PendingEvent {
  readonly event: AcceptedEvent
  /** Its number in the journal; undefined where none is kept. */
  readonly row?: number | undefined
  /** Its bytes, which count as pending until it is released. */
  readonly hold?: Hold | undefined
  readonly acceptedAt: number
  /** Tries so far. */
  attempts: number
  lastAttemptAt?: number | undefined
  lastOutcome?: DeliveryOutcome | undefined
  lastStatus?: number | undefined
  /** Whether it waits for its next try. */
  waits?: boolean
  /** It was answered after all while it waited: there is no next try. */
  answered?: boolean
}

/** How the queue learns of what came of a bundle it sent. */
export interface Sent {
  /** To be called once, with what came of the try. */
  settle(result: Pick<WebhookResult, 'status' | 'failure'>): TryResult
  /** The subscriber answered after its time-out; true if that spares it the next try. */
  answeredLate(status: number): boolean
}

/** What came of a try, for the record. */
export interface TryResult {
  readonly outcome: 'delivered' | 'retry' | 'given up'
  readonly nextTryAt?: number
}

/** What a queue is given to work with. */
export interface SubscriptionQueueOptions {
  readonly clock: Clock
  readonly random: () => number
  readonly settings: DeliverySettings
  readonly work: WorkCounter
  readonly journal: Journal
  /** Makes one request for a bundle of events, and tells what came of it. */
  readonly send: (subscription: EventSubscription, bundle: readonly PendingEvent[], sent: Sent) => Promise<void>
  /** The bytes of an event as it goes out. */
  readonly sizeOf: (event: AcceptedEvent, subscription: EventSubscription) => number
  readonly giveUp: (subscription: EventSubscription, events: readonly PendingEvent[], reason: GiveUpReason) => void
  /** An event is out of the queue without being given up: delivered or forgotten. */
  readonly release: (pending: PendingEvent) => void
  /** Asks to be woken at a time. */
  readonly wakeAt: (due: number) => void
}

/** The events of one subscription that are neither delivered nor given up. */
export interface SubscriptionQueue {
  /** New settings, for events to come and for those that wait. */
  use(subscription: EventSubscription): void
  /** Whether the subscription's filter wants an event. */
  wants(event: AcceptedEvent): boolean
  /** Takes an event without asking the filter. */
  add(pending: PendingEvent, due?: number): void
  /** Sends what is due. */
  pump(): void
  /** Forgets what waits; answers of requests under way are ignored. */
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
  const waiting = new DueQueue<PendingEvent>()
  let subscription = first
  let wanted = compileFilter(first.properties.filter)
  let health: EndpointHealth = healthy
  let requests = 0
  let eventsUnderWay = 0
  let answered = 0
  let dropped = false

  const policy = () => ({ ...defaultPolicy, ...subscription.properties.retryPolicy })

  function nextBundle(now: number): PendingEvent[] {
    const webhook = webhookOf(subscription)
    const batching = webhook && batchingOf(webhook)
    const timeToLive = policy().eventTimeToLiveInMinutes * 60_000
    const bundle: PendingEvent[] = []
    let bytes = 0
    for (let next = ready.peek(); next; next = ready.peek()) {
      if (now - next.acceptedAt >= timeToLive) {
        ready.shift()
        options.giveUp(subscription, [next], 'TimeToLiveExceeded')
        continue
      }
      if (bundle[0]) {
        if (!batching || bundle.length >= batching.maxEvents || next.attempts !== bundle[0].attempts) break
      }
      if (batching) {
        bytes += options.sizeOf(next.event, subscription)
        if (bundle[0] && bytes > batching.preferredBytes) break
      }
      ready.shift()
      bundle.push(next)
      if (!batching) break
    }
    return bundle
  }

  function settle(bundle: readonly PendingEvent[], result: Pick<WebhookResult, 'status' | 'failure'>): TryResult {
    const now = clock.now()
    const outcome = result.status === undefined ? (result.failure?.outcome ?? 'Aborted') : outcomeOf(result.status)
    if (settings.probation) health = healthAfter(health, outcome, now, settings.probation)
    const attempts = (bundle[0]?.attempts ?? 0) + 1
    for (const pending of bundle) {
      pending.attempts = attempts
      pending.lastAttemptAt = now
      pending.lastOutcome = outcome
      pending.lastStatus = result.status
    }
    if (outcome === 'Delivered') {
      for (const pending of bundle) {
        options.journal.settled(subscription.id, pending.row)
        options.release(pending)
      }
      return { outcome: 'delivered' }
    }
    if (dropped) {
      for (const pending of bundle) options.release(pending)
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
      options.giveUp(subscription, bundle, decision.giveUp)
      return { outcome: 'given up' }
    }
    const nextTryAt = now + decision.delayMs
    for (const pending of bundle) {
      const { row, lastAttemptAt, lastOutcome, lastStatus } = pending
      options.journal.tried(subscription.id, row, { attempts, lastAttemptAt, lastOutcome, lastStatus, due: nextTryAt })
      pending.waits = true
      waiting.add(nextTryAt, pending)
    }
    options.wakeAt(nextTryAt)
    return { outcome: 'retry', nextTryAt }
  }

  /** Takes out the next that is due; those answered late meanwhile fall away. */
  function takeDue(now: number): PendingEvent | undefined {
    for (let next = waiting.take(now); next; next = waiting.take(now)) {
      next.waits = false
      if (!next.answered) return next
      answered--
    }
    return undefined
  }

  /**
   * A late answer may spare the next try, or not (Event Grid: delivery-and-retry): here it does if that has not begun.
   */
  function answeredLate(bundle: readonly PendingEvent[], status: number): boolean {
    if (dropped || outcomeOf(status) !== 'Delivered') return false
    const spared = bundle.filter(({ waits }) => waits)
    for (const pending of spared) {
      pending.waits = false
      pending.answered = true
      answered++
      options.journal.settled(subscription.id, pending.row)
      options.release(pending)
    }
    return spared.length > 0
  }

  function deliver(bundle: readonly PendingEvent[]): void {
    work.begin()
    requests++
    eventsUnderWay += bundle.length
    void options
      .send(subscription, bundle, {
        settle(result) {
          requests--
          eventsUnderWay -= bundle.length
          return settle(bundle, result)
        },
        answeredLate: (status) => answeredLate(bundle, status),
      })
      .finally(() => {
        pump()
        work.end()
      })
  }

  function pump(): void {
    if (dropped) return
    const now = clock.now()
    for (let due = takeDue(now); due; due = takeDue(now)) ready.push(due)
    if (now < health.probationUntil) {
      if (ready.size > 0) options.wakeAt(health.probationUntil)
    } else {
      while (requests < settings.concurrency) {
        const bundle = nextBundle(now)
        if (bundle.length === 0) break
        deliver(bundle)
      }
    }
    if (waiting.nextDue !== undefined) options.wakeAt(waiting.nextDue)
  }

  return {
    use(next) {
      subscription = next
      wanted = compileFilter(next.properties.filter)
    },
    wants: (event) => canConvert(event.schema, deliverySchemaOf(subscription)) && wanted(event),
    add(pending, due = 0) {
      if (due > clock.now()) waiting.add(due, pending)
      else ready.push(pending)
    },
    pump,
    drop() {
      dropped = true
      for (let next = ready.shift(); next; next = ready.shift()) options.release(next)
      for (let next = takeDue(Infinity); next; next = takeDue(Infinity)) options.release(next)
    },
    get size() {
      return ready.size + waiting.size - answered + eventsUnderWay
    },
  }
}
