import type { DeliveryEngine, EmulatorContext } from '../context.ts'
import type { AcceptedEvent } from '../model/accepted-event.ts'
import type { CancelTimer } from '../model/clock.ts'
import type { EventSubscription } from '../model/model.ts'
import { type Journal, type JournalEntry, noJournal } from '../state/journal.ts'
import { raisedEvents } from '../topics/raise.ts'
import { createDeadLetterBox } from './dead-letter-box.ts'
import { createDeliver } from './deliver.ts'
import { deliverySettings } from './delivery-options.ts'
import { deliverySchemaOf, webhookOf } from './delivery-request.ts'
import { createEventTexts } from './event-texts.ts'
import { createPendingBytes } from './pending-bytes.ts'
import type { GiveUpReason } from './retry-schedule.ts'
import { createSubscriptionQueue, type PendingEvent, type SubscriptionQueue } from './subscription-queue.ts'
import { createValidator } from './validation.ts'
import { createWebhookClient } from './webhook-client.ts'
import { createWorkCounter } from './work-counter.ts'

interface Lane {
  readonly queue: SubscriptionQueue
  /** The newest that is stored, whatever its state. */
  subscription: EventSubscription
}

/**
 * Makes the half of Event Grid that talks to subscribers.
 * @param journal where what waits is written down. @default nowhere
 */
export function createDeliveryEngine(context: EmulatorContext, journal: Journal = noJournal): DeliveryEngine {
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

  const bytes = createPendingBytes()
  const release = ({ hold }: Pick<PendingEvent, 'hold'>) => bytes.release(hold)
  const deadLetters = createDeadLetterBox(context, settings, work, wakeAt, journal, { release, written: tellSettled })

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

  function sizeOf(event: AcceptedEvent, subscription: EventSubscription): number {
    return Buffer.byteLength(texts.text(event, deliverySchemaOf(subscription)))
  }

  function makeQueue(subscription: EventSubscription): SubscriptionQueue {
    return createSubscriptionQueue(subscription, {
      clock,
      random: context.random,
      settings,
      work,
      journal,
      wakeAt,
      release,
      sizeOf,
      async send(current, bundle, sent) {
        await deliver(current, bundle, {
          settle: (result) => (closed ? { outcome: 'given up' } : sent.settle(result)),
          answeredLate(status) {
            const spared = !closed && sent.answeredLate(status)
            if (spared) setImmediate(tellSettled)
            return spared
          },
        })
        tellSettled()
      },
      giveUp(current, events, reason) {
        for (const pending of events) {
          const { row, attempts, lastAttemptAt, lastOutcome, lastStatus } = pending
          journal.tried(current.id, row, { attempts, lastAttemptAt, lastOutcome, lastStatus, givenUp: reason })
          giveUp(current, pending, reason)
        }
      },
    })
  }

  function giveUp(subscription: EventSubscription, pending: PendingEvent, reason: GiveUpReason): void {
    watcher?.givenUp(subscription, pending.event, reason)
    deadLetters.add(subscription, { ...pending, reason, outcome: pending.lastOutcome ?? 'Probation' })
  }

  function addLane(subscription: EventSubscription): Lane {
    const lane: Lane = { queue: makeQueue(subscription), subscription }
    lanes.set(subscription.id.toLowerCase(), lane)
    const source = subscription.scope.toLowerCase()
    bySource.set(source, (bySource.get(source) ?? new Set()).add(lane))
    return lane
  }

  function removeLane(subscription: EventSubscription): void {
    const lane = lanes.get(subscription.id.toLowerCase())
    if (!lane) return
    if (!closed) journal.forget(subscription.id)
    lane.queue.drop()
    watcher?.forgotten(subscription)
    lanes.delete(subscription.id.toLowerCase())
    bySource.get(subscription.scope.toLowerCase())?.delete(lane)
    tellSettled()
  }

  function accept(sourceId: string, events: readonly AcceptedEvent[]): void {
    if (closed) return
    const open = [...(bySource.get(sourceId.toLowerCase()) ?? [])].filter(({ subscription: { provisioningState } }) =>
      ['Succeeded', 'Updating'].includes(provisioningState),
    )
    const wanted = events.map((event) => ({ event, lanes: open.filter(({ queue }) => queue.wants(event)) }))
    const acceptedAt = clock.now()
    const rows = journal.accepted(
      wanted.map((one) => ({
        event: one.event,
        subscriptionIds: one.lanes.map(({ subscription }) => subscription.id),
      })),
      acceptedAt,
    )
    watcher?.accepted(sourceId, events)
    for (const [index, { event, lanes: takers }] of wanted.entries()) {
      const [first] = takers
      const hold = first && bytes.hold(sizeOf(event, first.subscription), takers.length)
      for (const { queue, subscription } of takers) {
        queue.add({ event, row: rows[index], hold, acceptedAt, attempts: 0 })
        watcher?.queued(subscription, event)
      }
    }
    pumpSoon()
  }

  function restore({ row, subscriptionId, event, acceptedAt, state }: JournalEntry): void {
    const subscription = store.subscription(subscriptionId)
    if (!subscription || !webhookOf(subscription)) {
      journal.settled(subscriptionId, row)
      return
    }
    const { due, givenUp, ...tries } = state
    const hold = bytes.hold(sizeOf(event, subscription), 1)
    const pending = { event, row, hold, acceptedAt, ...tries }
    if (givenUp) {
      giveUp(subscription, pending, givenUp)
      return
    }
    // Without a finished set-up too: events taken in before it was changed are delivered all the same.
    const { queue } = lanes.get(subscriptionId) ?? addLane(subscription)
    queue.add(pending, due)
    watcher?.queued(subscription, event)
  }

  return {
    validate: validator.validate,
    confirmValidation: validator.confirm,
    accept,
    raise(sourceId, events) {
      for (const { source, accepted } of raisedEvents(store, sourceId, events, clock.now())) accept(source, accepted)
    },
    full: () => pending() >= settings.maxPending || bytes.total >= settings.maxPendingBytes,
    subscriptionChanged(subscription) {
      if (closed || !webhookOf(subscription)) return removeLane(subscription)
      const known = lanes.get(subscription.id.toLowerCase())
      // Until it has been set up once there is nothing to deliver by; while it is updated the settings before are.
      if (!known && subscription.provisioningState !== 'Succeeded') return
      const lane = known ?? addLane(subscription)
      lane.subscription = subscription
      if (subscription.provisioningState !== 'Succeeded') return
      lane.queue.use(subscription)
      pumpSoon()
    },
    subscriptionDeleted: removeLane,
    restore() {
      let last: AcceptedEvent | undefined
      for (const entry of journal.entries()) {
        // An event of several subscriptions comes once for each.
        if (entry.event !== last)
          watcher?.accepted(store.subscription(entry.subscriptionId)?.scope ?? '', [entry.event])
        last = entry.event
        restore(entry)
      }
      pumpSoon()
    },
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
