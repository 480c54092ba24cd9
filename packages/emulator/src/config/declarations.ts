// Applying declared topics and event subscriptions, removing others.
import { isDeepStrictEqual } from 'node:util'
import { suggestName } from '../../../../src/support/text/nearest-name.ts'
import { deleteNamespace, deleteNamespaceTopic, deleteQueueSubscription } from '../arm/resources/namespace-contents.ts'
import { removeResource } from '../arm/resources/resources.ts'
import type { HandshakeRetries } from '../arm/subscriptions/provisioning.ts'
import { declaredProperties } from '../arm/subscriptions/read-settings.ts'
import { asResourceId, eventSubscriptionId, named, trackedTypes } from '../model/resources/resource.ts'
import { publisherOf } from '../model/resources/store.ts'
import type { EventSubscriptionOptions } from './config-schema.ts'
import { type DeclaredNamespace, type NamespaceTargets, putNamespace } from './declared-namespaces.ts'
import { putPublished, putSystemTopic, type ResourceTargets, removeNamed } from './declared-resources.ts'
import type { ResolvedOptions } from './options.ts'

export interface DeclarationTargets extends NamespaceTargets, ResourceTargets {
  /** The names of what an earlier configuration declared, perhaps in another process. */
  formerly(kind: string): readonly string[]
  /** Keeps the names of what this one declares, as JSON, for the next one. */
  remember(kind: string, names: string): void
  /** Whether nothing else is to be there afterwards, such as what was made through ARM. @default false */
  readonly alone?: boolean
}

/** Creates the resources and event subscriptions that options or a configuration file declare, and removes what they no longer declare. */
export function declare(targets: DeclarationTargets, options: ResolvedOptions): void {
  const { store, clock, provisioning } = targets

  /** Calls `remove` for what was declared formerly and is no longer. */
  function sweep(kind: string, wanted: readonly string[], remove: (name: string) => void): void {
    const present = new Set(wanted.map((name) => name.toLowerCase()))
    for (const name of targets.formerly(kind)) if (!present.has(name)) remove(name)
    targets.remember(kind, JSON.stringify([...present]))
  }

  function idOf(options: EventSubscriptionOptions): { readonly id: string; readonly scope: string } {
    const topics = store.resources('topics')
    const scope = options.scope === undefined ? named(topics, options.topic)?.id : asResourceId(options.scope)
    if (scope === undefined) {
      const names = topics.map(({ name }) => name)
      throw new RangeError(`there is no topic ${options.topic ?? ''}; ${suggestName(options.topic ?? '', names)}`)
    }
    return { scope, id: eventSubscriptionId(scope, options.name) }
  }

  function putEventSubscription(options: EventSubscriptionOptions, retries: HandshakeRetries): string {
    const { id, scope } = idOf(options)
    const properties = declaredProperties(options, publisherOf(store, scope)?.inputSchema, clock.now())
    const existing = store.subscriptions.get(id)
    if (existing && isDeepStrictEqual(existing.properties, properties) && existing.provisioningState === 'Succeeded')
      return id
    const place = existing ?? { id, scope, name: options.name, createdAt: clock.now() }
    provisioning.write({ ...place, properties, provisioningState: existing ? 'Updating' : 'Creating' }, retries)
    return id
  }

  /** Removes the topics and Queue event subscriptions that are declared no longer. Those made through ARM stay. */
  function declareContents(declared: readonly DeclaredNamespace[]): void {
    const { namespaces, topics, subscriptions } = targets.namespaces
    const topicIds = declared.flatMap((one) => one.topics)
    sweep('namespace topics', topicIds, (id) => {
      const topic = topics.get(id)
      if (topic) deleteNamespaceTopic(targets, topic)
    })
    const subscriptionIds = declared.flatMap((one) => one.subscriptions)
    sweep('queue event subscriptions', subscriptionIds, (id) => {
      const subscription = subscriptions.get(id)
      if (subscription) deleteQueueSubscription(targets, subscription)
    })
    namespaces.lead(declared.map(({ id }) => id))
    topics.lead(topicIds)
  }

  const { topics, domains, systemTopics, namespaces, eventSubscriptions } = options
  for (const type of trackedTypes) {
    const names = options[type].map(({ name }) => name)
    sweep(type, names, (name) => removeNamed(targets, type, name))
  }
  const tracked = [
    ...topics.map((topic) => putPublished(targets, 'topics', topic)),
    ...domains.map((domain) => putPublished(targets, 'domains', domain)),
    ...systemTopics.map((systemTopic) => putSystemTopic(targets, systemTopic)),
  ]
  store.leadResources(tracked)
  const namespaceNames = namespaces.map(({ name }) => name)
  sweep('namespaces', namespaceNames, (name) => {
    const declared = named(targets.namespaces.namespaces.all(), name)
    if (declared) deleteNamespace(targets, declared)
  })
  const contents = namespaces.map((namespace) => putNamespace(targets, namespace))
  declareContents(contents)
  const put = (one: EventSubscriptionOptions) => putEventSubscription(one, options.declaredRetries)
  const subscriptions = eventSubscriptions.map(put)
  sweep('event subscriptions', subscriptions, (id) => {
    const existing = store.subscriptions.get(id)
    if (existing) provisioning.remove(existing)
  })
  if (!targets.alone) return
  const inNamespaces = contents.flatMap(({ id, ...inside }) => [id, ...inside.topics, ...inside.subscriptions])
  removeOthers(targets, new Set([...tracked, ...inNamespaces, ...subscriptions].map((id) => id.toLowerCase())))
}

/** Removes all resources and event subscriptions that have none of these ids. */
function removeOthers(targets: DeclarationTargets, ids: ReadonlySet<string>): void {
  const { store, provisioning } = targets
  const isOther = ({ id }: { readonly id: string }) => !ids.has(id.toLowerCase())
  for (const one of store.tracked().filter(isOther)) removeResource(targets, one)
  for (const one of store.subscriptions.all().filter(isOther)) provisioning.remove(one)
  for (const one of store.resources('domains/topics')) {
    if (store.subscriptions.of(one.id).length === 0) store.deleteResourceSoon(one)
  }
  const { namespaces, topics, subscriptions } = targets.namespaces
  for (const one of namespaces.all().filter(isOther)) deleteNamespace(targets, one)
  for (const one of topics.all().filter(isOther)) deleteNamespaceTopic(targets, one)
  for (const one of subscriptions.all().filter(isOther)) deleteQueueSubscription(targets, one)
}
