/** What topics, domains, namespaces and storage accounts look like to their users: addresses, ids and keys. */

import { suggestName } from '../../../../src/support/text/nearest-name.ts'
import type { Namespace, NamespaceStore, NamespaceTopic } from './resources/namespace.ts'
import { type AccessKeys, named, type Publishable } from './resources/resource.ts'
import type { Store } from './resources/store.ts'

/** A custom topic or a domain, as a publisher needs it. */
export interface TopicView {
  readonly name: string
  /** Resource id, which is the scope of its event subscriptions. */
  readonly id: string
  /** Where events are posted to, over https. */
  readonly endpoint: string
  /** The same over http. */
  readonly httpEndpoint: string
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
  /** Its blob endpoint over http, with the account in the path, as Azurite has it. */
  readonly blobEndpoint: string
  /** The same over https, for clients that sign in with Entra. */
  readonly httpsBlobEndpoint: string
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

/** Where the emulator is found, without trailing slashes. */
export interface Addresses {
  https: string
  http: string
  /** Host and port of the blob endpoint, which serves http and https. */
  blobs: string
}

interface Sources {
  readonly store: Store
  readonly namespaces: NamespaceStore
  readonly addresses: Addresses
}

/** A custom topic or a domain. @param name @default the first. Throws a RangeError for an unknown name. */
export function viewPublishedNamed(
  { store, addresses }: Sources,
  type: Publishable['type'],
  name: string | undefined,
): TopicView {
  const all = store.resources(type)
  const found = named(all, name)
  if (!found) throw unknown(type === 'topics' ? 'topic' : 'domain', name, all)
  return viewPublished(addresses, found)
}

/** All custom topics, or all domains. */
export function viewAllPublished({ store, addresses }: Sources, type: Publishable['type']): readonly TopicView[] {
  return store.resources(type).map((one) => viewPublished(addresses, one))
}

function viewPublished(addresses: Sources['addresses'], { name, id, label, keys }: Publishable): TopicView {
  const { https, http } = addresses
  const path = `/topics/${label}/api/events`
  return { name, id, endpoint: `${https}${path}`, httpEndpoint: `${http}${path}`, key: keys[0], keys }
}

/** A namespace topic: by default the first of the first namespace. Throws a RangeError for an unknown name. */
export function namespaceTopicView(
  { namespaces, addresses }: Sources,
  name: string | undefined,
  namespaceName: string | undefined,
): NamespaceTopicView {
  const all = namespaces.namespaces.all()
  const namespace = named(all, namespaceName)
  if (!namespace) throw unknown('namespace', namespaceName, all)
  const topics = namespaces.topics.of(namespace.id)
  const topic = named(topics, name)
  if (!topic) throw unknown('topic', name, topics, ` in the namespace ${namespace.name}`)
  return viewOf(addresses.https, namespace, topic)
}

function unknown(kind: string, name: string | undefined, known: readonly { readonly name: string }[], where = '') {
  if (name === undefined) return new RangeError(`there is no ${kind}${where}`)
  const names = known.map((one) => one.name)
  return new RangeError(`there is no ${kind} ${name}${where}; ${suggestName(name, names)}`)
}

/** The topics of all namespaces. */
export function viewNamespaceTopics({ namespaces, addresses }: Sources): readonly NamespaceTopicView[] {
  return namespaces.namespaces
    .all()
    .flatMap((one) => namespaces.topics.of(one.id).map((topic) => viewOf(addresses.https, one, topic)))
}

function viewOf(https: string, { name, keys }: Namespace, topic: NamespaceTopic): NamespaceTopicView {
  const namespaceEndpoint = `${https}/namespaces/${name}`
  const endpoint = `${namespaceEndpoint}/topics/${topic.name}:publish`
  return { name: topic.name, id: topic.id, namespaceEndpoint, endpoint, key: keys[0] }
}

/** The storage accounts whose blobs raise events. */
export function viewStorage({
  storage,
  addresses: { blobs },
}: {
  readonly storage: readonly Pick<StorageView, 'account' | 'id' | 'azurite'>[]
  readonly addresses: Addresses
}): readonly StorageView[] {
  return storage.map(({ account, id, azurite }) => {
    const endpoints = { blobEndpoint: `http://${blobs}/${account}`, httpsBlobEndpoint: `https://${blobs}/${account}` }
    return { account, id, ...endpoints, azurite }
  })
}
