import type { RunningEmulator } from './emulator.ts'
import type { Namespace, NamespaceTopic } from './model/namespace.ts'

/** A custom topic, as a publisher needs it. */
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
  readonly keys: readonly [string, string]
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

type Sources = Pick<RunningEmulator, 'store' | 'namespaces' | 'addresses'>

/** A custom topic. @param name @default the first. Throws a RangeError for an unknown name. */
export function viewTopic({ store, addresses }: Sources, name: string | undefined): TopicView {
  const topic = name === undefined ? store.topics()[0] : store.topic(name)
  if (!topic) throw new RangeError(name === undefined ? 'there is no topic' : `there is no topic ${name}`)
  const path = `/topics/${topic.name}/api/events`
  return {
    name: topic.name,
    id: topic.id,
    endpoint: `${addresses.https}${path}`,
    httpEndpoint: `${addresses.http}${path}`,
    key: topic.keys[0],
    keys: topic.keys,
  }
}

/** A namespace topic: by default the first of the first namespace. Throws a RangeError for an unknown name. */
export function viewNamespaceTopic(
  { namespaces, addresses }: Sources,
  name: string | undefined,
  namespaceName: string | undefined,
): NamespaceTopicView {
  const namespace = namespaceName === undefined ? namespaces.namespaces()[0] : namespaces.namespace(namespaceName)
  if (!namespace) {
    throw new RangeError(
      namespaceName === undefined ? 'there is no namespace' : `there is no namespace ${namespaceName}`,
    )
  }
  const topics = namespaces.topics(namespace.id)
  const topic = name === undefined ? topics[0] : topics.find((one) => one.name.toLowerCase() === name.toLowerCase())
  if (!topic) throw new RangeError(`there is no topic ${name ?? ''} in the namespace ${namespace.name}`)
  return viewOf(addresses.https, namespace, topic)
}

/** The topics of all namespaces. */
export function viewNamespaceTopics({ namespaces, addresses }: Sources): readonly NamespaceTopicView[] {
  return namespaces
    .namespaces()
    .flatMap((namespace) => namespaces.topics(namespace.id).map((topic) => viewOf(addresses.https, namespace, topic)))
}

function viewOf(https: string, { name, keys }: Namespace, topic: NamespaceTopic): NamespaceTopicView {
  const namespaceEndpoint = `${https}/namespaces/${name}`
  const endpoint = `${namespaceEndpoint}/topics/${topic.name}:publish`
  return { name: topic.name, id: topic.id, namespaceEndpoint, endpoint, key: keys[0] }
}
