// Which event subscriptions take new events: `Succeeded`, `Updating`; lookup by source.
import type { EventSubscription } from '../../model/resources/model.ts'
import type { SubscriptionQueue } from './subscription-queue.ts'

export interface QueuedSubscription {
  readonly queue: SubscriptionQueue
  /** The newest version in the store, in any provisioning state. */
  subscription: EventSubscription
}

export type SubscriptionQueues = ReturnType<typeof createSubscriptionQueues>

/** The queues of all subscriptions, by subscription and by source. Ids compare without regard to case. */
export function createSubscriptionQueues(makeQueue: (subscription: EventSubscription) => SubscriptionQueue) {
  const byId = new Map<string, QueuedSubscription>()
  const bySource = new Map<string, Set<QueuedSubscription>>()

  function add(subscription: EventSubscription): QueuedSubscription {
    const added: QueuedSubscription = { queue: makeQueue(subscription), subscription }
    byId.set(subscription.id.toLowerCase(), added)
    const source = subscription.scope.toLowerCase()
    bySource.set(source, (bySource.get(source) ?? new Set()).add(added))
    return added
  }

  return {
    find: (subscriptionId: string) => byId.get(subscriptionId.toLowerCase()),
    /** Those that take new events of a source (its resource id). */
    openOf: (sourceId: string) =>
      [...(bySource.get(sourceId.toLowerCase()) ?? [])].filter(({ subscription: { provisioningState } }) =>
        ['Succeeded', 'Updating'].includes(provisioningState),
      ),
    add,
    /** Takes the new version of a subscription. Returns whether its queue may have something to send. */
    update(subscription: EventSubscription): boolean {
      const known = byId.get(subscription.id.toLowerCase())
      const ready = subscription.provisioningState === 'Succeeded'
      // Before the first success there are no settings to deliver by; during an update the previous ones are used.
      if (!known && !ready) return false
      const changed = known ?? add(subscription)
      changed.subscription = subscription
      if (ready) changed.queue.use(subscription)
      return ready
    },
    remove({ id, scope }: EventSubscription): void {
      const removed = byId.get(id.toLowerCase())
      if (!removed) return
      byId.delete(id.toLowerCase())
      bySource.get(scope.toLowerCase())?.delete(removed)
    },
    all: () => byId.values(),
    /** Events in all queues. */
    get size() {
      let sum = 0
      for (const { queue } of byId.values()) sum += queue.size
      return sum
    },
  }
}
