/** Resources as their users need them: addresses, ids and keys. */
import type { AccessKeys } from './resources/access-keys.ts'

/** A custom topic or a domain, as a publisher needs it. */
export interface TopicView {
  readonly name: string
  /** Resource id, which is the scope of its event subscriptions. */
  readonly id: string
  /** Where events are posted to, over https. */
  readonly endpoint: string
  /** The same over http. */
  readonly httpEndpoint: string
  /** The same at a port of its own, over https or http, where the option `topicPorts` gives it one. */
  readonly ownEndpoint?: string
  /** The first key. */
  readonly key: string
  readonly keys: AccessKeys
}

/** A system topic. */
export interface SystemTopicView {
  readonly name: string
  /** Resource id, which is the scope of its event subscriptions. */
  readonly id: string
  /** Resource id of the source of its events. */
  readonly source: string
}

/** A storage account whose blobs raise events. */
export interface StorageView {
  /** The name of the account. */
  readonly account: string
  /** Resource id, which is the scope of its event subscriptions. */
  readonly id: string
  /** Its blob endpoint, with the account in the path, as Azurite has it. */
  readonly blobEndpoint: string
  /** Base URL of the Azurite that has its blobs. */
  readonly azurite: string
}

/** A namespace topic, as a publisher and a receiver need it. */
export interface NamespaceTopicView {
  readonly name: string
  /** Resource id. */
  readonly id: string
  /** Base URL of the namespace, over https. */
  readonly namespaceEndpoint: string
  /** Where events are posted to, over https. */
  readonly endpoint: string
  /** The namespace's first key. */
  readonly key: string
}
