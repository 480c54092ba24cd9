import type { Secret } from '../core/secret.ts'
import type { InputMetadata } from '../metadata/metadata.ts'
import { createSubscriptionApi } from '../subscription/subscription-api.ts'
import type { UpsertOutcome } from '../subscription/upsert-attempt.ts'
import { type UpsertOptions, upsertSubscription } from '../subscription/upsert-subscription.ts'
import { createCredential } from './credential.ts'
import type { SideOptions } from './side-options.ts'

/** Creates or updates the event subscription of one component. */
export type SubscriptionUpsert = (
  how: Pick<UpsertOptions, 'patience' | 'signal' | 'onAttempt'>,
) => Promise<UpsertOutcome>

/** What {@link createSubscriptionUpsert} needs. */
export interface SubscriptionUpsertOptions extends SideOptions {
  readonly input: InputMetadata
  /** Our credential in the delivery attribute, for `deliveryAuthentication: secret`. */
  readonly deliveryCredential: Secret | undefined
}

/**
 * Connects to ARM and Entra. In a file of its own, for their libraries take longer to load than all else, and a
 * listener that is up need not wait for them.
 * @throws BindingError where endpoint or credential can't be used
 */
export function createSubscriptionUpsert(options: SubscriptionUpsertOptions): SubscriptionUpsert {
  const { input, endpoints, logger, deliveryCredential } = options
  const credential = createCredential(input.credential, { ...options, environment: input.environment })
  const api = createSubscriptionApi({ input, credential, endpoints })
  return (how) => upsertSubscription({ api, input, logger, ...(deliveryCredential && { deliveryCredential }), ...how })
}
