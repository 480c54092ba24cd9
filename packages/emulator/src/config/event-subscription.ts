/** How one event subscription is made beside those of the configuration, and when its maker hears that its endpoint did not consent. */
import type { Operation } from '../arm/call/operations.ts'
import type { Provisioning } from '../arm/subscriptions/provisioning.ts'
import { declaredProperties } from '../arm/subscriptions/read-settings.ts'
import { publicUrlOf } from '../delivery/send/ingress.ts'
import type { EventSubscription } from '../model/resources/event-subscription.ts'
import { eventSubscriptionId, named } from '../model/resources/resource.ts'
import { publisherOf } from '../model/resources/store.ts'
import { errorOfFaults } from '../model/schemas.ts'
import type { Clock } from '../model/time/clock.ts'
import { awaitHandshakes } from '../model/time/work-counter.ts'
import type { Records } from '../records/record-types.ts'
import { existingSourceIdOf, type Sources } from '../topics/raise.ts'
import { eventSubscriptionFaults } from './config-faults.ts'
import type { ResolvedOptions } from './options.ts'
import type { EventSubscriptionOptions } from './resource-fields.ts'

export interface PutTargets extends Sources {
  readonly clock: Clock
  readonly provisioning: Provisioning
  readonly records: Pick<Records, 'handshakes'>
}

/** An endpoint may be slow to start. In real milliseconds. */
const maxWaitMs = 60_000

/**
 * Writes an event subscription, new or in the place of the one with that name, and waits for its handshake. Returns it, and why it gets no
 * events where its endpoint has not consented. Throws a TypeError that names all that is wrong, and a RangeError for a scope that is not
 * there.
 *
 * @param given its endpoint may be an http URL of this machine
 */
export async function putEventSubscription(
  targets: PutTargets,
  given: EventSubscriptionOptions,
  { declaredRetries }: Pick<ResolvedOptions, 'declaredRetries'>,
): Promise<{ readonly subscription: EventSubscription; readonly because?: string }> {
  const { clock, store, directory, provisioning, records } = targets
  const endpoint = publicUrlOf(given.endpoint ?? '') ?? given.endpoint
  const options = { ...given, ...(endpoint !== undefined && { endpoint }) }
  const standing = {
    subscriptions: directory.azureSubscriptions().map(({ id }) => ({ id })),
    topics: store.resources('topics').map(({ name, inputSchema }) => ({ name, inputSchema })),
    domains: store.resources('domains').map(({ name, inputSchema }) => ({ name, inputSchema })),
  }
  const faults = eventSubscriptionFaults(options, standing, clock.now())
  if (faults.length > 0) throw errorOfFaults(faults, 'the event subscription')
  const scope =
    options.scope === undefined
      ? (named(store.resources('topics'), options.topic)?.id ?? '')
      : existingSourceIdOf(targets, options.scope)
  const id = eventSubscriptionId(scope, options.name)
  const properties = declaredProperties(options, publisherOf(store, scope)?.inputSchema, clock.now())
  const existing = store.subscriptions.get(id)
  const place = existing ?? { id, scope, name: options.name, createdAt: clock.now() }
  const provisioningState = existing ? 'Updating' : 'Creating'
  const answered = Promise.withResolvers<void>()
  const operation = provisioning.write({ ...place, properties, provisioningState }, declaredRetries, answered.resolve)
  await awaitHandshakes(answered.promise, maxWaitMs)
  const subscription = store.subscriptions.get(id)
  if (subscription?.provisioningState === 'Succeeded') return { subscription }
  const last = records.handshakes.filter(({ subscriptionId }) => subscriptionId === id).at(-1)
  const because = failureOf(operation) ?? last?.message ?? 'its endpoint has not answered yet'
  return { subscription: subscription ?? { ...place, properties, provisioningState }, because }
}

const failureOf = ({ result }: Operation) => (result?.status === 'Failed' ? result.error.message : undefined)
