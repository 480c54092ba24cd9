import { isDeepStrictEqual } from 'node:util'
import { suggestName } from '../../support/nearest-name.ts'
import { deleteNamespace } from '../arm/namespaces.ts'
import { declaredProperties } from '../arm/validation.ts'
import type { CancelTimer, Clock } from '../model/clock.ts'
import { asResourceId, type EventSubscription, eventSubscriptionId } from '../model/model.ts'
import { publisherOf, resourceNamed } from '../model/store.ts'
import type { PersistedValues } from '../state/persisted-values.ts'
import { type NamespaceTargets, putNamespace } from './declared-namespaces.ts'
import { putPublished, putSystemTopic, type ResourceTargets, removeNamed } from './declared-resources.ts'
import type { EventSubscriptionOptions, ResolvedOptions } from './options.ts'

/**
 * Pause before another handshake of a declared event subscription, in milliseconds of the emulator's clock: its
 * subscriber may start later.
 */
export const handshakeAgainMs = 5_000

/**
 * The resources and event subscriptions of the options or a configuration file: created when first declared, removed when
 * no longer declared.
 */
export interface Declarations {
  declare(options: ResolvedOptions): void
  close(): void
}

export interface DeclarationTargets extends NamespaceTargets, ResourceTargets {
  readonly clock: Clock
  readonly persisted: PersistedValues
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
    const topic =
      options.topic === undefined ? store.resources('topics')[0] : resourceNamed(store, 'topics', options.topic)
    const scope = options.scope === undefined ? topic?.id : asResourceId(options.scope)
    if (scope === undefined) {
      const names = store.resources('topics').map(({ name }) => name)
      throw new RangeError(`there is no topic ${options.topic ?? ''}; ${suggestName(options.topic ?? '', names)}`)
    }
    return { scope, id: eventSubscriptionId(scope, options.name) }
  }

  function putEventSubscription(options: EventSubscriptionOptions): string {
    const { id, scope } = idOf(options)
    const properties = declaredProperties(options, publisherOf(store, scope)?.inputSchema, clock.now())
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
    declare({ topics, domains, systemTopics, namespaces, eventSubscriptions }) {
      for (const [type, declared] of [
        ['topics', topics],
        ['domains', domains],
        ['systemTopics', systemTopics],
      ] as const) {
        sweep(
          type,
          declared.map(({ name }) => name),
          (name) => removeNamed(targets, type, name),
        )
      }
      store.leadResources([
        ...topics.map((topic) => putPublished(targets, 'topics', topic)),
        ...domains.map((domain) => putPublished(targets, 'domains', domain)),
        ...systemTopics.map((systemTopic) => putSystemTopic(targets, systemTopic)),
      ])
      sweep(
        'namespaces',
        namespaces.map(({ name }) => name),
        (name) => {
          const declared = targets.namespaces.namespace(name)
          if (declared) deleteNamespace(targets, declared)
        },
      )
      targets.namespaces.lead(namespaces.flatMap((namespace) => putNamespace(targets, namespace)))
      sweep('event subscriptions', eventSubscriptions.map(putEventSubscription), (id) => {
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
