import { isRecord } from '../../support/is-record.ts'
import { createCollection, noShelves, type Shelves } from './collection.ts'
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

/** Makes the store of the topics and event subscriptions on these shelves. @param shelves @default in memory */
export function createStore(shelves: Shelves = noShelves): Store {
  const topics = createCollection({ keyOf: ({ name }) => name, shelf: shelves('topic'), isResource: isTopic })
  const subscriptions = createCollection({
    keyOf: ({ id }) => id,
    groupOf: ({ scope }) => scope,
    shelf: shelves('event subscription'),
    isResource: isEventSubscription,
  })
  return {
    topic: topics.get,
    topicById: (id) => topics.all().find((topic) => topic.id.toLowerCase() === id.toLowerCase()),
    topics: topics.all,
    putTopic: topics.put,
    deleteTopic: topics.delete,
    subscription: subscriptions.get,
    subscriptions: subscriptions.all,
    subscriptionsOf: subscriptions.of,
    putSubscription: subscriptions.put,
    deleteSubscription: subscriptions.delete,
  }
}

function isTopic(value: unknown): value is Topic {
  return isRecord(value) && typeof value.id === 'string' && typeof value.name === 'string' && Array.isArray(value.keys)
}

function isEventSubscription(value: unknown): value is EventSubscription {
  return isRecord(value) && typeof value.id === 'string' && isRecord(value.properties)
}
