import type { EventSubscription, Topic } from './model.ts'

/** The topics and event subscriptions. Ids compare without regard to case, as ARM's do. */
export interface Store {
  topic(name: string): Topic | undefined
  topicById(id: string): Topic | undefined
  topics(): readonly Topic[]
  putTopic(topic: Topic): void
  deleteTopic(topic: Topic): void
  subscription(id: string): EventSubscription | undefined
  subscriptions(): readonly EventSubscription[]
  /** Those of one source, which is the scope they were made at. */
  subscriptionsOf(sourceId: string): readonly EventSubscription[]
  putSubscription(subscription: EventSubscription): void
  deleteSubscription(subscription: EventSubscription): void
}

/** A store in memory. */
export function createMemoryStore(): Store {
  const topics = new Map<string, Topic>()
  const subscriptions = new Map<string, EventSubscription>()
  const bySource = new Map<string, Map<string, EventSubscription>>()
  return {
    topic: (name) => topics.get(name.toLowerCase()),
    topicById: (id) => [...topics.values()].find((topic) => topic.id.toLowerCase() === id.toLowerCase()),
    topics: () => [...topics.values()],
    putTopic: (topic) => void topics.set(topic.name.toLowerCase(), topic),
    deleteTopic: (topic) => void topics.delete(topic.name.toLowerCase()),
    subscription: (id) => subscriptions.get(id.toLowerCase()),
    subscriptions: () => [...subscriptions.values()],
    subscriptionsOf: (sourceId) => [...(bySource.get(sourceId.toLowerCase())?.values() ?? [])],
    putSubscription(subscription) {
      const key = subscription.id.toLowerCase()
      const source = subscription.scope.toLowerCase()
      subscriptions.set(key, subscription)
      const siblings = bySource.get(source) ?? new Map<string, EventSubscription>()
      bySource.set(source, siblings.set(key, subscription))
    },
    deleteSubscription(subscription) {
      const key = subscription.id.toLowerCase()
      const source = subscription.scope.toLowerCase()
      subscriptions.delete(key)
      const siblings = bySource.get(source)
      siblings?.delete(key)
      if (siblings?.size === 0) bySource.delete(source)
    },
  }
}
