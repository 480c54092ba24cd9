import type { AcceptedEvent } from './accepted-event.ts'
import type { CancelTimer } from './clock.ts'
import type { DeliveryEngine, EmulatorContext } from './context.ts'
import { createDeadLetterBox } from './dead-letter-box.ts'
import { createDeliver, createEventTexts } from './deliver.ts'
import { deliverySettings } from './delivery-options.ts'
import { deliverySchemaOf, webhookOf } from './delivery-request.ts'
import type { EventSubscription } from './model.ts'
import { raisedEvents } from './raise.ts'
import { createSubscriptionQueue, type SubscriptionQueue } from './subscription-queue.ts'
import { createValidator } from './validation.ts'
import { createWebhookClient } from './webhook-client.ts'
import { createWorkCounter } from './work-counter.ts'

interface Lane {
  readonly queue: SubscriptionQueue
  /** The newest that is stored, whatever its state. */
  subscription: EventSubscription
  stopExpiry: CancelTimer
}

/** Makes the half of Event Grid that talks to subscribers. */
export function createDeliveryEngine(context: EmulatorContext): DeliveryEngine {
  const { clock, store, watcher } = context
  const settings = deliverySettings(context.delivery)
  const work = createWorkCounter()
  const texts = createEventTexts()
  const client = createWebhookClient({ ...context })
  const validator = createValidator(context, {
    close: client.close,
    send(request) {
      work.begin()
      return client.send(request).finally(work.end)
    },
  })
  const deliver = createDeliver(context, client, texts, work)
  const lanes = new Map<string, Lane>()
  const bySource = new Map<string, Set<Lane>>()
  const settledWaiters: (() => void)[] = []
  let wake: { readonly due: number; readonly cancel: CancelTimer } | undefined
  let pumping = false
  let closed = false

  const deadLetters = createDeadLetterBox(context, settings, work, wakeAt)

  function wakeAt(due: number): void {
    if (closed || (wake && wake.due <= due)) return
    wake?.cancel()
    const cancel = clock.setTimer(Math.max(due - clock.now(), 0), () => {
      wake = undefined
      pumpAll()
    })
    wake = { due, cancel }
  }

  function pumpAll(): void {
    deadLetters.pump()
    for (const { queue } of lanes.values()) queue.pump()
    tellSettled()
  }

  /** Soon, not at once: the publisher's answer goes first, and events of one tick can share a bundle. */
  function pumpSoon(): void {
    if (pumping || closed) return
    pumping = true
    work.begin()
    setImmediate(() => {
      pumping = false
      if (!closed) pumpAll()
      work.end()
    })
  }

  function pending(): number {
    let sum = deadLetters.size
    for (const { queue } of lanes.values()) sum += queue.size
    return sum
  }

  function tellSettled(): void {
    if (settledWaiters.length === 0 || (!closed && pending() > 0)) return
    for (const tell of settledWaiters.splice(0)) tell()
  }

  function makeQueue(subscription: EventSubscription): SubscriptionQueue {
    return createSubscriptionQueue(subscription, {
      clock,
      random: context.random,
      settings,
      work,
      wakeAt,
      sizeOf: (event, current) => Buffer.byteLength(texts.text(event, deliverySchemaOf(current))),
      async send(current, bundle, settle) {
        await deliver(current, bundle, closed ? () => ({ outcome: 'given up' }) : settle)
        tellSettled()
      },
      giveUp(current, events, reason) {
        for (const { event, attempts, acceptedAt, lastAttemptAt, lastOutcome, lastStatus } of events) {
          const outcome = lastOutcome ?? 'Probation'
          watcher?.givenUp(current, event, reason)
          deadLetters.add(current, { event, reason, attempts, acceptedAt, lastAttemptAt, outcome, lastStatus })
        }
      },
    })
  }

  function addLane(subscription: EventSubscription): Lane {
    const lane: Lane = { queue: makeQueue(subscription), subscription, stopExpiry: () => {} }
    lanes.set(subscription.id.toLowerCase(), lane)
    const source = subscription.scope.toLowerCase()
    bySource.set(source, (bySource.get(source) ?? new Set()).add(lane))
    return lane
  }

  function removeLane(subscription: EventSubscription): void {
    const lane = lanes.get(subscription.id.toLowerCase())
    if (!lane) return
    lane.stopExpiry()
    lane.queue.drop()
    watcher?.forgotten(subscription)
    lanes.delete(subscription.id.toLowerCase())
    bySource.get(subscription.scope.toLowerCase())?.delete(lane)
    tellSettled()
  }

  /** An event subscription that is over disappears from ARM too. */
  function watchExpiry(lane: Lane): void {
    lane.stopExpiry()
    const expiry = Date.parse(lane.subscription.properties.expirationTimeUtc ?? '')
    if (Number.isNaN(expiry)) return
    lane.stopExpiry = clock.setTimer(Math.max(expiry - clock.now(), 0), () => {
      store.deleteSubscription(lane.subscription)
      removeLane(lane.subscription)
    })
  }

  function accept(sourceId: string, events: readonly AcceptedEvent[]): void {
    if (closed) return
    watcher?.accepted(sourceId, events)
    for (const lane of bySource.get(sourceId.toLowerCase()) ?? []) {
      const { provisioningState } = lane.subscription
      if (provisioningState !== 'Succeeded' && provisioningState !== 'Updating') continue
      for (const event of events) if (lane.queue.offer(event)) watcher?.queued(lane.subscription, event)
    }
    pumpSoon()
  }

  return {
    validate: validator.validate,
    confirmValidation: validator.confirm,
    accept,
    raise(sourceId, events) {
      for (const { source, accepted } of raisedEvents(store, sourceId, events, clock.now())) accept(source, accepted)
    },
    full: () => pending() >= settings.maxPending,
    subscriptionChanged(subscription) {
      if (closed || !webhookOf(subscription)) return removeLane(subscription)
      const known = lanes.get(subscription.id.toLowerCase())
      // Until it has been set up once there is nothing to deliver by; while it is updated the settings before are.
      if (!known && subscription.provisioningState !== 'Succeeded') return
      const lane = known ?? addLane(subscription)
      lane.subscription = subscription
      if (subscription.provisioningState !== 'Succeeded') return
      lane.queue.use(subscription)
      watchExpiry(lane)
      pumpSoon()
    },
    subscriptionDeleted: removeLane,
    pending,
    async idle() {
      if (!closed) pumpSoon()
      await work.idle()
    },
    async quiet() {
      if (!closed) pumpSoon()
      return work.quiet()
    },
    settled() {
      return new Promise((resolve) => {
        settledWaiters.push(resolve)
        tellSettled()
      })
    },
    async close() {
      closed = true
      wake?.cancel()
      for (const lane of [...lanes.values()]) removeLane(lane.subscription)
      validator.close()
      client.close()
      tellSettled()
      await work.idle()
    },
  }
}
