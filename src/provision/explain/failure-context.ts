// Names shown and secrets hidden in the messages about a failure of the event subscription.
import { splitDeliveryCredentials } from '../../core/delivery-credential.ts'
import { querySecrets } from '../../core/scrub.ts'
import type { Secret } from '../../core/secret.ts'
import type { InputMetadata } from '../../metadata/typed/metadata.ts'
import type { SubscriptionApi } from '../arm/subscription-api.ts'
import { chooseSubscriptionPath } from '../arm/subscription-path.ts'
import { isStatic, isWebHook } from '../decide/canonical-subscription.ts'
import type { ExistingSubscription } from '../decide/decide-upsert.ts'
import type { FailureContext } from './explain-failure.ts'

export interface FailureContextOptions {
  readonly api: Pick<SubscriptionApi, 'resourceManager'>
  readonly input: InputMetadata
  readonly deliveryCredential?: Secret
}

/** What the explanation of a failure names, and what it must not show. */
export function failureContext({ api, input, deliveryCredential }: FailureContextOptions): FailureContext {
  const { credential, deliveryAuthentication: delivery, subscriberEndpoint, scope } = input
  return {
    scopeId: scope.id,
    pathKind: chooseSubscriptionPath(scope).kind,
    subscriptionId: input.subscriptionId,
    eventSubscriptionName: input.eventSubscriptionName,
    clientId: input.clientId,
    subscriberEndpoint,
    handshakePort: input.handshakePort,
    resourceManager: api.resourceManager,
    secrets: [
      deliveryCredential?.reveal(),
      credential?.kind === 'clientSecret' ? credential.clientSecret.reveal() : undefined,
      ...(delivery.kind === 'secret' ? delivery.sources.map((source) => source.reveal()) : []),
      ...querySecrets(subscriberEndpoint),
    ].filter((text) => text !== undefined),
  }
}

/** The same, for messages about an event subscription that exists: its secret attributes are not shown either. */
export function withSecretsOf(context: FailureContext, existing: ExistingSubscription | undefined): FailureContext {
  const destination = existing?.subscription.destination
  if (!isWebHook(destination)) return context
  const values = (destination.deliveryAttributeMappings ?? [])
    .filter(isStatic)
    .flatMap(({ isSecret, value }) => (isSecret && value ? [value, ...splitDeliveryCredentials(value)] : []))
  return { ...context, secrets: [...context.secrets, ...values] }
}
