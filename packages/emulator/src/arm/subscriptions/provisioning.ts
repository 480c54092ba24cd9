/** How an event subscription comes to its provisioning state: by its destination, the handshake, and the expiration time. */

import { randomUUID } from 'node:crypto'
import { pause } from '../../../../../src/support/time/clock.ts'
import type { Directory } from '../../entra/directory.ts'
import type { Asking, ValidationOutcome } from '../../model/events/accepted-event.ts'
import {
  destinationOf,
  type EventSubscription,
  type EventSubscriptionProperties,
  type ProvisioningState,
  withInForce,
} from '../../model/resources/event-subscription.ts'
import type { NamespaceStore } from '../../model/resources/namespace.ts'
import { resourceGroupId } from '../../model/resources/resource.ts'
import type { Store } from '../../model/resources/store.ts'
import { type CancelTimer, type Clock, ManualClock, pauseBeforeNext } from '../../model/time/clock.ts'
import { awaitHandshakes } from '../../model/time/work-counter.ts'
import { dotNetTime } from '../../model/wording.ts'
import type { Records } from '../../records/record-types.ts'
import type { Fault, Faults } from '../../server/faults.ts'
import {
  internalMessage,
  type Operation,
  type OperationResult,
  type Operations,
  type OperationWaits,
  type ReachedState,
} from '../call/operations.ts'
import { parseArmScope } from '../call/path.ts'
import { createDomainTopic, deleteUnusedDomainTopic } from '../resources/domain-topics.ts'

/** States with an operation under way. A validation URL ends with the process that made it. */
const unsettled: readonly ProvisioningState[] = ['Creating', 'Updating', 'AwaitingManualAction']

/** Whether the emulator asks an endpoint again, which Event Grid does not do. */
export interface HandshakeRetries {
  /** After a failed handshake. */
  readonly failed: boolean
  /** While the endpoint waits for a manual validation. */
  readonly waiting: boolean
}

/**
 * Pause before another handshake, in milliseconds of the emulator's clock: the subscriber may start later, or be mended.
 */
export const handshakeAgainMs = 5_000

export type Provisioning = ReturnType<typeof createProvisioning>

/** Delivers to event subscriptions: validates their endpoints and follows each change. */
export interface SubscriptionDelivery {
  /**
   * Runs the handshake of a webhook in the subscription's schema, again and again while the endpoint waits for a manual validation.
   * Never rejects. Fails early when the signal aborts.
   */
  validate(subscription: EventSubscription, signal: AbortSignal, asking: Asking): Promise<ValidationOutcome>
  /** Why its events are not delivered; undefined where they are. */
  undelivered(subscription: EventSubscription): string | undefined
  subscriptionChanged(subscription: EventSubscription): void
  subscriptionDeleted(subscription: EventSubscription): void
  /** Tells its endpoint that it was deleted. */
  tellDeleted(subscription: EventSubscription): void
}

export interface ProvisioningOptions extends KnownResources {
  /** What holds for event subscriptions that are written without retries of their own. @default none */
  readonly retries?: HandshakeRetries
  readonly clock: Clock
  readonly store: Store
  readonly faults: Faults
  readonly delivery: SubscriptionDelivery
  readonly operations: Operations
  readonly records: Pick<Records, 'warnings'>
}

const isDelayAlone = ({ delayMs, code, message, details, status }: Fault): boolean =>
  delayMs !== undefined && code === undefined && message === undefined && details === undefined && status === undefined

type Failure = Extract<OperationResult, { readonly status: 'Failed' }>
const failure = (error: Failure['error']): Failure => ({ status: 'Failed', error })

/** Carries out changes of event subscriptions in the background. The state of an event subscription is that of its operation. */
export function createProvisioning(options: ProvisioningOptions) {
  const { clock, store, directory, faults, delivery, operations, records } = options
  const expiries = new Map<string, CancelTimer>()
  /** What may still ask an endpoint, by the id of the event subscription. */
  const asking = new Map<string, AbortController>()
  /** The endpoints that are to be asked again, by the id of the event subscription: asks one now, and resolves when it has answered. */
  const waiting = new Map<string, () => Promise<void>>()
  const noRetries: HandshakeRetries = { failed: false, waiting: false }

  const put = (wanted: EventSubscription): EventSubscription => {
    const subscription = withInForce(wanted, store.subscriptions.get(wanted.id))
    store.subscriptions.put(subscription)
    delivery.subscriptionChanged(subscription)
    return subscription
  }

  /** Changes the state of the settings in `written`, unless newer settings have replaced them or a DELETE is under way. */
  const move = (written: EventSubscription, provisioningState: ProvisioningState): void => {
    const existing = store.subscriptions.get(written.id)
    if (existing?.properties !== written.properties || existing.provisioningState === 'Deleting') return
    const next = withInForce({ ...existing, provisioningState }, existing)
    store.subscriptions.putAnyway(next)
    delivery.subscriptionChanged(next)
  }

  const stopAsking = ({ id }: EventSubscription) => {
    asking.get(id.toLowerCase())?.abort()
    asking.delete(id.toLowerCase())
  }

  /** Resolves when an endpoint is to be asked again: after the pause, or by `askAgain`; with what is to be called when it has answered. */
  const nextAsk = async ({ id }: EventSubscription, over: AbortSignal): Promise<() => void> => {
    const soon = new AbortController()
    const answered = Promise.withResolvers<void>()
    const askNow = () => {
      soon.abort()
      return answered.promise
    }
    const key = id.toLowerCase()
    waiting.set(key, askNow)
    await pause(clock, pauseBeforeNext(clock, handshakeAgainMs), AbortSignal.any([over, soon.signal]))
    return () => {
      if (waiting.get(key) === askNow) waiting.delete(key)
      answered.resolve()
    }
  }

  const resultOf = async (outcome: ValidationOutcome, park: () => void): Promise<OperationResult> => {
    if (outcome.outcome === 'validated') return { status: 'Succeeded' }
    if (outcome.outcome === 'failed') return failure({ code: outcome.code, message: outcome.message })
    park()
    if ((await outcome.completed) === 'validated') return { status: 'Succeeded' }
    const message = 'The manual validation of the endpoint was not completed in time.'
    return failure({ code: 'Url validation', message })
  }

  const cancelExpiry = ({ id }: EventSubscription) => {
    expiries.get(id.toLowerCase())?.()
    expiries.delete(id.toLowerCase())
  }

  const forget = (subscription: EventSubscription): EventSubscription | undefined => {
    cancelExpiry(subscription)
    stopAsking(subscription)
    const existing = store.subscriptions.get(subscription.id)
    if (!existing) return undefined
    store.subscriptions.deleteAnyway(existing)
    delivery.subscriptionDeleted(existing)
    deleteUnusedDomainTopic(store, existing.scope)
    return existing
  }

  const end = (subscription: EventSubscription) => {
    const existing = forget(subscription)
    if (existing) delivery.tellDeleted(existing)
  }

  const warn = (subscription: EventSubscription) => {
    const message = delivery.undelivered(subscription)
    if (message === undefined) return
    const { id, name } = subscription
    records.warnings.push({ at: clock.now(), subscriptionId: id, subscriptionName: name, message })
  }

  // An event subscription is deleted at its expiration time (Event Grid: subscription-creation-schema).
  const watchExpiry = (subscription: EventSubscription) => {
    cancelExpiry(subscription)
    const { expirationTimeUtc } = subscription.properties
    if (expirationTimeUtc === undefined) return
    const cancel = clock.setTimer(Date.parse(expirationTimeUtc) - clock.now(), () => end(subscription))
    expiries.set(subscription.id.toLowerCase(), cancel)
  }

  /** The id of the Azure subscription that an operation belongs to. */
  const azureIdOf = ({ scope }: EventSubscription): string =>
    directory.azureSubscription(parseArmScope(scope)?.subscriptionId ?? '')?.id ?? ''

  /** @param answered is called when the endpoint has answered */
  const validate = (
    subscription: EventSubscription,
    retries = options.retries ?? noRetries,
    answered = () => {},
  ): Operation => {
    stopAsking(subscription)
    const own = new AbortController()
    asking.set(subscription.id.toLowerCase(), own)
    const run = async (signal: AbortSignal, { park, delay }: OperationWaits) => {
      const fault = faults.take('operation', { method: 'PUT', url: subscription.id })
      const { takenBack } = faults
      if (fault?.delayMs) await delay(fault.delayMs, takenBack)
      // A delay alone is no failure: the real result follows. So it does for a fault that is taken back.
      if (fault && !takenBack.aborted && !isDelayAlone(fault)) {
        const { code = 'Internal error', message = internalMessage(clock.now()), details } = fault
        return failure({ code, message, ...(details && { details }) })
      }
      const missing = missingDestination(options, subscription.properties)
      if (missing !== undefined) return failure(destinationNotFound(missing, clock.now()))
      const next = () => nextAsk(subscription, own.signal)
      const again = retries.waiting ? { pauseMs: handshakeAgainMs, next } : undefined
      const outcome = await delivery.validate(subscription, signal, { over: own.signal, again })
      return resultOf(outcome, () => {
        park()
        answered()
      })
    }
    const reached = (state: ReachedState) => move(subscription, state)
    const operation = operations.start(azureIdOf(subscription), run, { reached })
    void operation.ended.then(answered)
    if (retries.failed) void operation.ended.then(() => retryFailed(subscription, own.signal, retries))
    return operation
  }

  /** Another handshake of an event subscription that failed, unless it was changed or deleted meanwhile. */
  const retryFailed = async (written: EventSubscription, over: AbortSignal, retries: HandshakeRetries) => {
    const failed = store.subscriptions.get(written.id)
    if (over.aborted || failed?.provisioningState !== 'Failed') return
    const answered = await nextAsk(failed, over)
    if (over.aborted) return answered()
    move(failed, 'Updating')
    validate(failed, retries, answered)
  }

  return {
    /**
     * Stores the new settings and validates the endpoint; returns the operation. Throws an ArmError where a domain topic is
     * missing that the service must not create.
     *
     * @param answered is called when the endpoint has answered
     */
    write(subscription: EventSubscription, retries?: HandshakeRetries, answered?: () => void): Operation {
      createDomainTopic(store, subscription.scope)
      try {
        put(subscription)
      } catch (error) {
        deleteUnusedDomainTopic(store, subscription.scope)
        throw error
      }
      warn(subscription)
      watchExpiry(subscription)
      return validate(subscription, retries, answered)
    },
    /**
     * Continues after a restart: watches the expiries of stored subscriptions and repeats interrupted changes. To be
     * called once.
     */
    resume(): void {
      for (const subscription of store.subscriptions.all()) {
        watchExpiry(subscription)
        if (subscription.provisioningState === 'Deleting') end(subscription)
        if (unsettled.includes(subscription.provisioningState)) validate(subscription)
      }
    },
    remove(subscription: EventSubscription): Operation {
      const leaving = put({ ...subscription, provisioningState: 'Deleting' })
      stopAsking(leaving)
      return operations.start(azureIdOf(leaving), async () => {
        // A PUT may have replaced it meanwhile.
        if (store.subscriptions.get(leaving.id) === leaving) end(leaving)
        return { status: 'Succeeded' }
      })
    },
    /**
     * Has the endpoints asked at once that wait for another handshake, for events of these sources: the time of a manual clock does not
     * pass by itself. Resolves when they have answered; of silent ones after five seconds.
     */
    async askAgain(sources: readonly string[]): Promise<void> {
      if (!(clock instanceof ManualClock) || waiting.size === 0) return
      const ids = sources.flatMap((source) => store.subscriptions.of(source).map(({ id }) => id.toLowerCase()))
      const asked = ids.flatMap((id) => waiting.get(id)?.() ?? [])
      if (asked.length > 0) await awaitHandshakes(Promise.all(asked))
    },
    /** Removes it without an operation. */
    removeAtOnce: end,
    /** The same for one that is to be as if it had never been: its endpoint is not told. */
    forget,
    close(): void {
      for (const cancel of expiries.values()) cancel()
      for (const one of asking.values()) one.abort()
    },
  }
}

export interface KnownResources {
  readonly directory: Directory
  readonly namespaces: NamespaceStore
  /** The names of all storage accounts; undefined where they are not known. */
  readonly storageAccounts?: readonly string[] | undefined
}

/** The id of the destination's resource, where that does not exist; undefined where it does, or may. */
export function missingDestination(
  { directory, namespaces, storageAccounts }: KnownResources,
  properties: EventSubscriptionProperties,
): string | undefined {
  const destination = destinationOf(properties)
  if (destination === undefined || destination.endpointType === 'WebHook') return undefined
  const { resourceId } = destination.properties
  if (typeof resourceId !== 'string') return undefined
  const parts = parseArmScope(resourceId)
  if (!parts?.resourceGroup || !directory.azureSubscription(parts.subscriptionId)) return undefined
  const [, account] = /\/providers\/Microsoft\.Storage\/storageAccounts\/([^/]+)$/i.exec(resourceId.toLowerCase()) ?? []
  const isThere =
    directory.groups.get(resourceGroupId(parts.subscriptionId, parts.resourceGroup)) !== undefined &&
    (destination.endpointType !== 'NamespaceTopic' || namespaces.topics.get(resourceId) !== undefined) &&
    (account === undefined || storageAccounts === undefined || storageAccounts.includes(account))
  return isThere ? undefined : resourceId
}

/** How the operation fails then, in Azure's words (recorded, 2026). */
export function destinationNotFound(resourceId: string, now: number) {
  const message =
    `Destination endpoint not found. Resource details: resourceId: ${resourceId}. Resource should pre-exist before ` +
    `attempting this operation. Activity id:${randomUUID()}, timestamp: ${dotNetTime(now)} (UTC).`
  return { code: 'Endpoint validation', message }
}
