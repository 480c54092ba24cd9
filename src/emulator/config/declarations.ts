import { isDeepStrictEqual } from 'node:util'
import { deleteNamespace } from '../arm/namespaces.ts'
import type { Provisioning } from '../arm/provisioning.ts'
import { declaredProperties } from '../arm/validation.ts'
import type { Directory } from '../entra/directory.ts'
import type { CancelTimer, Clock } from '../model/clock.ts'
import { asResourceId, type EventSubscription, eventSubscriptionId, randomKey, topicId } from '../model/model.ts'
import type { Store } from '../model/store.ts'
import type { PersistedValues } from '../state/persisted-values.ts'
import { declaredGroup } from './declared-group.ts'
import { type NamespaceTargets, putNamespace } from './declared-namespaces.ts'
import { type EventSubscriptionOptions, emulatorDefaults, type ResolvedOptions, type TopicOptions } from './options.ts'

/**
 * Pause before another handshake of a declared event subscription, in milliseconds of the emulator's clock: its
 * subscriber may start later.
 */
export const handshakeAgainMs = 5_000

/**
 * The topics and event subscriptions of the options or a configuration file: created when first declared, removed when
 * no longer declared.
 */
export interface Declarations {
  declare(options: ResolvedOptions): void
  close(): void
}

export interface DeclarationTargets extends NamespaceTargets {
  readonly store: Store
  readonly directory: Directory
  readonly provisioning: Provisioning
  readonly clock: Clock
  readonly persisted: PersistedValues
}

/**
 * Creates a custom topic or changes its settings. An existing topic keeps its keys unless new ones are given. Throws a
 * RangeError for an unknown Azure subscription.
 */
export function putTopic({ store, directory }: DeclarationTargets, options: TopicOptions): void {
  const { subscriptionId, resourceGroup } = declaredGroup(directory, options)
  store.putTopic({
    id: topicId(subscriptionId, resourceGroup, options.name),
    name: options.name,
    subscriptionId,
    resourceGroup,
    location: options.location ?? emulatorDefaults.location,
    inputSchema: options.inputSchema ?? 'CloudEventSchemaV1_0',
    ...(options.inputSchemaMapping ? { inputSchemaMapping: options.inputSchemaMapping } : {}),
    keys: options.keys ?? store.topic(options.name)?.keys ?? [randomKey(), randomKey()],
    disableLocalAuth: options.disableLocalAuth ?? false,
  })
}

export function removeTopic({ store, provisioning }: DeclarationTargets, name: string): void {
  const topic = store.topic(name)
  if (!topic) return
  for (const one of store.subscriptionsOf(topic.id)) provisioning.remove(one, topic.subscriptionId)
  store.deleteTopic(topic)
}

/** Creates what options declare, and removes what they no longer declare. */
export function createDeclarations(targets: DeclarationTargets): Declarations {
  const { store, clock, persisted, provisioning } = targets
  const again = new Map<string, CancelTimer>()
  let closed = false

  const names = (kind: string): string[] => {
    const known: unknown = JSON.parse(persisted.get('declared', kind) ?? '[]')
    return Array.isArray(known) ? known.map(String) : []
  }

  /** Calls `remove` for what an earlier configuration declared, perhaps in another process, and this one does not. */
  function sweep(kind: string, wanted: readonly string[], remove: (name: string) => void): void {
    const present = new Set(wanted.map((name) => name.toLowerCase()))
    for (const name of names(kind)) if (!present.has(name)) remove(name)
    persisted.put('declared', kind, JSON.stringify([...present]))
  }

  function idOf(options: EventSubscriptionOptions): { readonly id: string; readonly scope: string } {
    const topic = options.topic === undefined ? store.topics()[0] : store.topic(options.topic)
    const scope = options.scope === undefined ? topic?.id : asResourceId(options.scope)
    if (scope === undefined) throw new RangeError(`there is no topic ${options.topic ?? ''}`)
    return { scope, id: eventSubscriptionId(scope, options.name) }
  }

  function putEventSubscription(options: EventSubscriptionOptions): string {
    const { id, scope } = idOf(options)
    const properties = declaredProperties(options, store.topicById(scope)?.inputSchema, clock.now())
    const existing = store.subscription(id)
    if (existing && isDeepStrictEqual(existing.properties, properties) && existing.provisioningState === 'Succeeded')
      return id
    stopTrying(id)
    write({
      id: existing?.id ?? id,
      scope: existing?.scope ?? scope,
      name: existing?.name ?? options.name,
      properties,
      provisioningState: existing ? 'Updating' : 'Creating',
      createdAt: existing?.createdAt ?? clock.now(),
    })
    return id
  }

  function write(subscription: EventSubscription): void {
    const azureSubscriptionId = subscription.scope.split('/')[2] ?? ''
    const operation = provisioning.write(subscription, azureSubscriptionId)
    void operation.ended.then(() => {
      const existing = store.subscription(subscription.id)
      const failed = existing?.properties === subscription.properties && existing.provisioningState === 'Failed'
      if (closed || !failed) return
      const cancel = clock.setTimer(handshakeAgainMs, () => write({ ...existing, provisioningState: 'Updating' }))
      again.set(subscription.id.toLowerCase(), cancel)
    })
  }

  function stopTrying(id: string): void {
    again.get(id.toLowerCase())?.()
    again.delete(id.toLowerCase())
  }

  return {
    declare({ topics, namespaces, eventSubscriptions }) {
      sweep(
        'topics',
        topics.map(({ name }) => name),
        (name) => removeTopic(targets, name),
      )
      for (const topic of topics) putTopic(targets, topic)
      sweep(
        'namespaces',
        namespaces.map(({ name }) => name),
        (name) => {
          const declared = targets.namespaces.namespace(name)
          if (declared) deleteNamespace(targets, declared)
        },
      )
      for (const namespace of namespaces) putNamespace(targets, namespace)
      const ids = eventSubscriptions.map(putEventSubscription)
      sweep('event subscriptions', ids, (id) => {
        stopTrying(id)
        const existing = store.subscription(id)
        if (existing) provisioning.remove(existing, existing.scope.split('/')[2] ?? '')
      })
    },
    close() {
      closed = true
      for (const cancel of again.values()) cancel()
    },
  }
}
