import { type Logger, silentLogger } from '../core/logger.ts'
import type { Secret } from '../core/secret.ts'
import type { InputMetadata } from '../metadata/metadata.ts'
import { type SteadyClock, systemClock } from '../support/clock.ts'
import { failureContext, withSecretsOf } from './failure-context.ts'
import { fleetSpreadMs } from './fleet-pace.ts'
import { type Persistence, repeatAttempts } from './repeat-attempts.ts'
import type { SubscriptionApi } from './subscription-api.ts'
import { createUpsertAttempt, type UpsertOutcome } from './upsert-attempt.ts'

export interface UpsertOptions extends Persistence {
  readonly api: SubscriptionApi
  readonly input: InputMetadata
  readonly deliveryCredential?: Secret
  readonly handled?: () => number
  /** Called after each read: whether the event subscription delivers to this endpoint already, with any credential. */
  readonly onLook?: (delivering: boolean) => void
  readonly logger?: Logger
  readonly clock?: SteadyClock
  readonly random?: () => number
}

/**
 * Creates the event subscription, or changes it to what the metadata asks for: reads, decides, writes if necessary, waits
 * until it is provisioned, and reads again to check the result.
 *
 * @throws BindingError CREDENTIALS_REJECTED, PERMISSION_DENIED, PROVIDER_NOT_REGISTERED, SCOPE_NOT_FOUND,
 * SUBSCRIPTION_REJECTED, HANDSHAKE_FAILED (also at the end of the time, if the last failure was a handshake), TIMEOUT
 * (its cause is the last failure) or ABORTED
 */
export async function upsertSubscription(options: UpsertOptions): Promise<UpsertOutcome> {
  const { input, deliveryCredential } = options
  const common = { logger: silentLogger, clock: systemClock, random: Math.random, ...options }
  const known = failureContext(options)
  let context = known
  const attemptOnce = createUpsertAttempt({
    ...common,
    deliveryCredential,
    onRead: (existing) => {
      context = withSecretsOf(known, existing)
    },
  })
  return repeatAttempts({
    ...common,
    name: input.eventSubscriptionName,
    scopeId: input.scope.id,
    timeoutMs: input.subscriptionTimeoutMs,
    attemptOnce,
    context: () => context,
    spreadMs: fleetSpreadMs(input.expectedReplicas),
  })
}
