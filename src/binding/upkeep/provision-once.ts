// What `init` does with the event subscription, done once and without a listener: plan of fields, write, delivery attribute.
import { deliveryTokenHeader, deriveDeliveryCredentials } from '../../core/delivery-credential.ts'
import { BindingError } from '../../core/errors.ts'
import type { Secret } from '../../core/secret.ts'
import type { InputMetadata, Metadata } from '../../metadata/typed/metadata.ts'
import type { FailedAttempt, UpsertOutcome } from '../../provision/upsert/repeat-attempts.ts'
import type { SideOptions } from '../sides/side-options.ts'

/** The sides of a component that have event subscriptions, as `parseMetadata` gives them. */
export type ProvisionedSides = Pick<Metadata, 'input' | 'pull'>

export interface ProvisionOptions extends SideOptions {
  readonly signal: AbortSignal
  /** Receives each failed attempt. */
  readonly onAttempt?: (failed: FailedAttempt) => void
}

/** A field that a write would change. A secret value, or one that holds a secret, is shown as `(redacted)`. */
export interface FieldChange {
  /** The path below `properties`, as Resource Manager spells it: `filter.subjectBeginsWith`. */
  readonly field: string
  /** Absent: the field is not set, or has its default. */
  readonly before?: unknown
  readonly after?: unknown
}

/** What `init` would do with one event subscription. Holds no secret. */
export interface PlannedSubscription {
  /** Its resource id. */
  readonly id: string
  /** `wait`: somebody changes it at the moment. `refuse`: it must not be written, see `because` and `fix`. */
  readonly action: 'create' | 'keep' | 'patch' | 'replace' | 'wait' | 'refuse'
  /** Why, as a clause; absent with `create` and `keep`. */
  readonly because?: string
  readonly fix?: string
  /** Empty with `keep`, `wait` and `refuse`. */
  readonly changes: readonly FieldChange[]
  /** What a write would take from somebody, a sentence each. */
  readonly warnings: readonly string[]
}

/**
 * Reads what exists and tells what {@link provisionOnce} would write; writes nothing. One entry for push; for pull the Queue event
 * subscription, and before it the one that forwards from another scope, if there is one.
 *
 * @throws BindingError as `init`; METADATA_INVALID where the component has no credential to ask Azure with
 */
export async function planProvision(
  sides: ProvisionedSides,
  options: ProvisionOptions,
): Promise<readonly PlannedSubscription[]> {
  void options
  refuseWithoutCredential(sides)
  throw new BindingError('OPERATION_UNSUPPORTED', { what: 'the plan is not there yet' })
}

/**
 * Creates or updates the event subscription as `init` does, also where `provisioning` is `check` or `none`, and resolves when it is
 * provisioned. Gives up after `subscriptionTimeout`. A push endpoint must answer the handshake meanwhile.
 *
 * @throws BindingError as `init`; METADATA_INVALID where the component has no credential to ask Azure with
 */
export async function provisionOnce(sides: ProvisionedSides, options: ProvisionOptions): Promise<UpsertOutcome> {
  refuseWithoutCredential(sides)
  const { input, pull } = sides
  const how = {
    patience: 'timeout',
    signal: options.signal,
    ...(options.onAttempt && { onAttempt: options.onAttempt }),
  } as const
  if (input) {
    const { connectSubscription } = await import('./subscription-control.ts')
    const deliveryCredential = credentialOf(input)
    return connectSubscription({ ...options, input, deliveryCredential }).upsert(how)
  }
  const { connectNamespace } = await import('../sides/pull-control.ts')
  const credential = pull?.credential
  if (!pull || !credential) throw new TypeError('the component has no input side')
  return connectNamespace({ ...pull, credential }, options).upsert(how)
}

/** The delivery attribute that the event subscription has to carry; `undefined` unless `deliveryAuthentication` is `secret`. Asks nobody. */
export function deliveryTokenAttribute(
  input: InputMetadata,
): { readonly name: string; readonly value: Secret } | undefined {
  const value = credentialOf(input)
  return value && { name: deliveryTokenHeader, value }
}

function credentialOf(input: InputMetadata): Secret | undefined {
  const { deliveryAuthentication: delivery } = input
  return delivery.kind === 'secret' ? deriveDeliveryCredentials(delivery.sources, input)[0]?.value : undefined
}

function refuseWithoutCredential({ input, pull }: ProvisionedSides): void {
  if ((input ?? pull)?.credential) return
  throw new BindingError('METADATA_INVALID', {
    what: 'the component has no credential to ask Azure Resource Manager with',
    fix: 'give tenantId, clientId, clientSecret and subscriptionId, or azureCredential',
  })
}
