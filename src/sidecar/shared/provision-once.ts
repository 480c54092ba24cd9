/** What `init` does with the event subscription, once and without a listener. */

import type { SideOptions } from '../../binding/side.ts'
import type { SubscriptionControl } from '../../binding/upkeep/subscription-control.ts'
import { deliveryTokenHeader, ownDeliveryCredential } from '../../core/delivery-credential.ts'
import type { Secret } from '../../core/secret.ts'
import type { ParsedMetadata, PushMetadata } from '../../metadata/typed/metadata.ts'
import type { FailedAttempt, UpsertOutcome } from '../../provision/attempts.ts'
import type { FieldChange, Upsert } from '../../provision/decide.ts'

/** The sides of a component that have event subscriptions, as `parseMetadata` gives them. */
export type ProvisionedSides = Pick<ParsedMetadata, 'push' | 'pull'>

export interface ProvisionOptions extends SideOptions {
  readonly signal: AbortSignal
  /** Receives each failed attempt. */
  readonly onAttempt?: (failed: FailedAttempt) => void
}

/** What `init` would do with one event subscription. Holds no secret. */
export interface PlannedSubscription {
  /** Its resource id. */
  readonly id: string
  /** `wait`: somebody changes it at the moment. `refuse`: it must not be written, see `because` and `fix`. */
  readonly action: Upsert['action']
  /** Why, as a clause; absent with `create` and `keep`. */
  readonly because?: string
  readonly fix?: string
  /** Empty with `keep`, `wait` and `refuse`. */
  readonly changes: readonly FieldChange[]
  /** What a write would take from somebody, and what could not be compared, a sentence each. */
  readonly warnings: readonly string[]
}

/**
 * Reads what exists and tells what {@link provisionOnce} would write; writes nothing. One entry for push; for pull the Queue event
 * subscription, then the one that forwards from another scope, if there is one.
 *
 * @throws BindingError as `init`; METADATA_INVALID where the component has no credential to ask Azure with
 */
export async function planProvision(
  sides: ProvisionedSides,
  options: ProvisionOptions,
): Promise<readonly PlannedSubscription[]> {
  const control = await connect(sides, options)
  const plans = await control.plan(howOf(options))
  return plans.map(({ id, upsert, isPlain }) => {
    const { warnings, ...more } = { changes: [], warnings: [], ...shown(upsert) }
    return { id, ...more, warnings: isPlain ? [...warnings, notCompared] : warnings }
  })
}

const notCompared =
  'the query of the URL and secret delivery attributes are not compared, because this client may not read them'

/** A decision without what it would write, which holds secrets. */
function shown(upsert: Upsert) {
  if (!('properties' in upsert))
    return upsert.action === 'wait' ? { action: upsert.action, because: `it is ${upsert.state}` } : upsert
  const { properties: _secret, ...rest } = upsert
  return rest
}

/**
 * Creates or updates the event subscription as `init` does, also where `provisioning` is `check` or `none`, and resolves when it is
 * provisioned. Gives up after `subscriptionTimeout`. A push endpoint must answer the handshake meanwhile.
 *
 * @throws BindingError as `init`; METADATA_INVALID where the component has no credential to ask Azure with
 */
export async function provisionOnce(sides: ProvisionedSides, options: ProvisionOptions): Promise<UpsertOutcome> {
  const control = await connect(sides, options)
  return control.upsert(howOf(options))
}

const howOf = ({ signal, onAttempt }: ProvisionOptions) =>
  ({ patience: 'timeout', signal, ...(onAttempt && { onAttempt }) }) as const

async function connect({ push, pull }: ProvisionedSides, options: ProvisionOptions): Promise<SubscriptionControl> {
  const { connectNamespace, connectSubscription } = await import('../../binding/upkeep/subscription-control.ts')
  if (push) return connectSubscription({ ...options, input: push })
  if (pull) return connectNamespace(pull, options)
  throw new TypeError('the component has no input side')
}

/**
 * The delivery attribute that the event subscription has to carry; `undefined` unless `deliveryAuthentication` is `secret`. Asks
 * nobody.
 */
export function deliveryTokenAttribute(
  input: PushMetadata,
): { readonly name: string; readonly value: Secret } | undefined {
  const value = ownDeliveryCredential(input)
  return value && { name: deliveryTokenHeader, value }
}
