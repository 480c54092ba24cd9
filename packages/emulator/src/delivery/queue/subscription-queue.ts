// One event subscription's queue: concurrency, 30 attempts, time to live 1440 minutes.
import { type AcceptedEvent, canConvert } from '../../model/events/accepted-event.ts'
import { filterOf } from '../../model/events/filters.ts'
import type { EventSubscription } from '../../model/resources/event-subscription.ts'
import type { PendingEvent } from '../send/channel.ts'
import { deliverySchemaOf } from '../send/delivery-request.ts'
import { type AttemptResultOptions, createAttemptResults } from './attempt-results.ts'
import type { Deliver } from './deliver.ts'
import { outcomeOf } from './retry-schedule.ts'
import { createRetries, Fifo, takeBatch } from './waiting-events.ts'

export interface SubscriptionQueueOptions extends AttemptResultOptions {
  /** Sends one request with a batch of events, and reports its result to `attempt`. */
  readonly deliver: Deliver
  /** The bytes of an event in the delivery schema. */
  readonly sizeOf: (event: AcceptedEvent, subscription: EventSubscription) => number
}

export type SubscriptionQueue = ReturnType<typeof createSubscriptionQueue>

const defaultPolicy = { maxDeliveryAttempts: 30, eventTimeToLiveInMinutes: 1440 } as const

/** The events of one subscription that are neither delivered nor given up. */
export function createSubscriptionQueue(first: EventSubscription, options: SubscriptionQueueOptions) {
  const { clock, settings, store, work } = options
  const ready = new Fifo<PendingEvent>()
  const retries = createRetries()
  const results = createAttemptResults(first.id, options, retries)
  let subscription = first
  let mismatch = filterOf(store, first)
  let requests = 0
  let eventsUnderWay = 0
  let dropped = false
  let forgotten = false

  const policy = () => ({ ...defaultPolicy, ...subscription.properties.retryPolicy })

  function deliverBatch(batch: readonly PendingEvent[]): void {
    work.begin()
    requests++
    eventsUnderWay += batch.length
    for (const { event } of batch) options.trail?.changed(subscription, event, { state: 'sending' })
    void options
      .deliver(subscription, batch, {
        finish(result) {
          requests--
          eventsUnderWay -= batch.length
          if (forgotten) {
            batch.forEach(options.release)
            return { outcome: 'forgotten' }
          }
          return results.finish(batch, result, { subscription, maxAttempts: policy().maxDeliveryAttempts, dropped })
        },
        // Event Grid may or may not send the next attempt then (delivery-and-retry); the emulator does not.
        isForgotten: () => forgotten,
        answeredLate: (status) => !dropped && outcomeOf(status) === 'Delivered' && results.settleWaiting(batch) > 0,
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
    if (now < results.pausedUntil) {
      if (ready.size > 0) options.wakeAt(results.pausedUntil)
    } else {
      while (requests < settings.concurrency) {
        const timeToLiveMs = policy().eventTimeToLiveInMinutes * 60_000
        const batch = takeBatch(ready, {
          ...{ subscription, now, timeToLiveMs },
          sizeOf: options.sizeOf,
          expired: (event) => results.expired(subscription, event, timeToLiveMs),
        })
        if (batch.length === 0) break
        deliverBatch(batch)
      }
    }
    if (retries.nextDue !== undefined) options.wakeAt(retries.nextDue)
  }

  return {
    /** The resource id of the subscription. */
    id: first.id,
    /** Applies new settings, to waiting events too. */
    use(next: EventSubscription): void {
      // Other properties: a later write succeeded.
      if (next.properties !== subscription.properties) results.forgetFailures()
      subscription = next
      mismatch = filterOf(store, next)
    },
    /** Whether the subscription's filter matches an event. */
    matches: (event: AcceptedEvent) =>
      canConvert(event.schema, deliverySchemaOf(subscription)) && mismatch(event) === undefined,
    /** Adds an event without applying the filter. */
    add(event: PendingEvent, due = 0): void {
      if (due > clock.now()) retries.add(due, event)
      else ready.push(event)
    },
    /** Sends what is due. */
    pump,
    /** Ends the pause of the endpoint, and makes what waits due: every event, or the wanted one alone. Returns these. */
    hasten(wanted?: AcceptedEvent): readonly AcceptedEvent[] {
      results.endPause()
      const early = retries.takeEarly(wanted)
      for (const event of early) ready.push(event)
      return early.map(({ event }) => event)
    },
    /** Until when the endpoint is held back after failures; undefined if it is not. */
    get heldUntil() {
      return results.pausedUntil > clock.now() ? results.pausedUntil : undefined
    },
    /** Whether any event waits for a later attempt. */
    get waits() {
      return retries.size > 0
    },
    /** Drops waiting events, and ignores the answers of requests under way. To forget it all, these are not even recorded. */
    drop({ forget = false }: { readonly forget?: boolean } = {}): void {
      dropped = true
      forgotten = forget
      for (let next = ready.shift(); next; next = ready.shift()) options.release(next)
      for (let next = retries.take(Infinity); next; next = retries.take(Infinity)) options.release(next)
    },
    get size() {
      return ready.size + retries.size + eventsUnderWay
    },
    /** How many of its events await an answer. */
    get underWay() {
      return eventsUnderWay
    },
    /** When the next of the other events is tried, or became due; undefined: there is no other event. */
    get nextTryAt() {
      const due = ready.size > 0 ? 0 : retries.nextDue
      return due === undefined ? undefined : Math.max(due, results.pausedUntil)
    },
  }
}
