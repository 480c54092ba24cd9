import { isRecord } from '../../support/is-record.ts'
import type { EventSubscription, Topic } from '../model/model.ts'
import { createMemoryStore, type Store } from '../model/store.ts'
import type { PersistedValues } from './persisted-values.ts'

/** A store that begins with the persisted topics and subscriptions, and persists every change before it returns. */
export function createPersistedStore(persisted: PersistedValues): Store {
  const store = createMemoryStore()
  for (const topic of persisted.all('topic').map(parsed).filter(isTopic)) store.putTopic(topic)
  const subscriptions = persisted.all('event subscription').map(parsed).filter(isEventSubscription)
  for (const subscription of subscriptions) store.putSubscription(subscription)
  return {
    ...store,
    putTopic(topic) {
      persisted.put('topic', topic.name.toLowerCase(), JSON.stringify(topic))
      store.putTopic(topic)
    },
    deleteTopic(topic) {
      persisted.delete('topic', topic.name.toLowerCase())
      store.deleteTopic(topic)
    },
    putSubscription(subscription) {
      persisted.put('event subscription', subscription.id.toLowerCase(), JSON.stringify(subscription))
      store.putSubscription(subscription)
    },
    deleteSubscription(subscription) {
      persisted.delete('event subscription', subscription.id.toLowerCase())
      store.deleteSubscription(subscription)
    },
  }
}

function parsed(text: string): unknown {
  return JSON.parse(text)
}

const isText = (value: unknown) => typeof value === 'string'

// The file is our own and was checked when it was opened.
function isTopic(value: unknown): value is Topic {
  return isRecord(value) && isText(value.id) && isText(value.name) && Array.isArray(value.keys)
}

function isEventSubscription(value: unknown): value is EventSubscription {
  return isRecord(value) && isText(value.id) && isText(value.scope) && isRecord(value.properties)
}
