import type { DeliveryEngine, EmulatorContext, ValidationOutcome } from '../context.ts'
import type { CancelTimer } from '../model/clock.ts'
import { destinationOf, type EventSubscription, type ProvisioningState } from '../model/model.ts'
import { armErrors } from './errors.ts'
import type { Operation, OperationResult, Operations } from './operations.ts'
import { parseArmScope } from './path.ts'

/**
 * States that end in another one by themselves. Of a manual validation the URL is gone with the process that made it.
 */
const unsettled: readonly ProvisioningState[] = ['Creating', 'Updating', 'AwaitingManualAction']

/** Carries changes of event subscriptions through their states, in the background. */
export interface Provisioning {
  /** Stores the new settings and validates the endpoint; returns the operation that says how it went. */
  write(subscription: EventSubscription, azureSubscriptionId: string): Operation
  /** Takes the subscription out of the store. */
  remove(subscription: EventSubscription, azureSubscriptionId: string): Operation
  /**
   * Takes up what a store from before holds: expiries run on, interrupted changes are carried out. To be called once.
   */
  resume(): void
  /** Ends the timers. */
  close(): void
}

/** Makes the part that moves subscriptions from state to state. */
export function createProvisioning(
  context: EmulatorContext,
  engine: DeliveryEngine,
  operations: Operations,
): Provisioning {
  const expiries = new Map<string, CancelTimer>()

  const store = (subscription: EventSubscription) => {
    context.store.putSubscription(subscription)
    engine.subscriptionChanged(subscription)
  }

  /** Moves on the settings that `written` holds, unless newer ones have taken their place. Returns what stands. */
  const move = (written: EventSubscription, provisioningState: ProvisioningState): EventSubscription => {
    const stands = context.store.subscription(written.id)
    if (stands?.properties !== written.properties) return written
    const moved = { ...stands, provisioningState }
    store(moved)
    return moved
  }

  const settle = async (
    written: EventSubscription,
    outcome: ValidationOutcome,
    operation: () => string,
  ): Promise<OperationResult> => {
    if (outcome.outcome === 'validated') {
      move(written, 'Succeeded')
      return { status: 'Succeeded' }
    }
    if (outcome.outcome === 'failed') {
      move(written, 'Failed')
      return { status: 'Failed', error: { code: outcome.code, message: outcome.message } }
    }
    move(written, 'AwaitingManualAction')
    operations.park(operation())
    const completed = await outcome.completed
    move(written, completed === 'validated' ? 'Succeeded' : 'Failed')
    if (completed === 'validated') return { status: 'Succeeded' }
    const message = 'The manual validation of the endpoint was not completed in time.'
    return { status: 'Failed', error: { code: 'Url validation', message } }
  }

  const forget = (subscription: EventSubscription) => {
    expiries.get(subscription.id.toLowerCase())?.()
    expiries.delete(subscription.id.toLowerCase())
    const stands = context.store.subscription(subscription.id)
    if (!stands) return
    context.store.deleteSubscription(stands)
    engine.subscriptionDeleted(stands)
  }

  // An event subscription is gone once its expiration time is over (Event Grid: subscription-creation-schema).
  const watchExpiry = (subscription: EventSubscription) => {
    const key = subscription.id.toLowerCase()
    expiries.get(key)?.()
    expiries.delete(key)
    const { expirationTimeUtc } = subscription.properties
    if (expirationTimeUtc === undefined) return
    const left = Date.parse(expirationTimeUtc) - context.clock.now()
    expiries.set(
      key,
      context.clock.setTimer(left, () => forget(subscription)),
    )
  }

  const validate = (subscription: EventSubscription, azureSubscriptionId: string): Operation => {
    const operation = operations.start(azureSubscriptionId, async (signal) => {
      const fault = context.faults.take('operation', { method: 'PUT', url: subscription.id })
      if (fault) {
        move(subscription, 'Failed')
        const { code = 'Internal error', message = armErrors.internal().message } = fault
        return { status: 'Failed', error: { code, message } }
      }
      // Only webhooks prove that they want the events.
      const validated = destinationOf(subscription.properties)?.endpointType !== 'WebHook'
      const outcome = validated ? { outcome: 'validated' as const } : await engine.validate(subscription, signal)
      return settle(subscription, outcome, () => operation.id)
    })
    return operation
  }

  return {
    write(subscription, azureSubscriptionId) {
      store(subscription)
      watchExpiry(subscription)
      return validate(subscription, azureSubscriptionId)
    },
    resume() {
      for (const subscription of context.store.subscriptions()) {
        const azureSubscriptionId = parseArmScope(subscription.scope)?.subscriptionId ?? ''
        watchExpiry(subscription)
        if (subscription.provisioningState === 'Deleting') forget(subscription)
        if (unsettled.includes(subscription.provisioningState)) validate(subscription, azureSubscriptionId)
      }
    },
    remove(subscription, azureSubscriptionId) {
      const leaving: EventSubscription = { ...subscription, provisioningState: 'Deleting' }
      store(leaving)
      return operations.start(azureSubscriptionId, async () => {
        // A PUT may have made it anew meanwhile.
        if (context.store.subscription(leaving.id) === leaving) forget(leaving)
        return { status: 'Succeeded' }
      })
    },
    close() {
      for (const cancel of expiries.values()) cancel()
    },
  }
}
