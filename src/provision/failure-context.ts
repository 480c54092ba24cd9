/** What a message about a failure of the event subscription names, and which texts the message must not show. */
import type { FailureContext } from '../azure/refusals/resource-manager-refusal.ts'
import { splitDeliveryCredentials } from '../core/delivery-credential.ts'
import { type EitherInput, type PullMetadata, type PushMetadata, secretsOf } from '../metadata/typed/metadata.ts'
import { placeAt } from './decide.ts'
import { type SubscriptionProperties, webHookOf } from './values.ts'

/** What the message about a failure of push names, and which texts the message must not show. */
export function failureContext(input: PushMetadata, resourceManager: string): FailureContext {
  const { subscriberEndpoint, scope, eventSubscriptionName } = input
  return {
    ...common(input, resourceManager),
    scopeId: scope.id,
    pathKind: placeAt(scope, eventSubscriptionName).kind,
    subscriptionId: input.subscriptionId,
    subscriberEndpoint,
    secrets: secretsOf({ push: input }),
  }
}

/** What the explanation of a failure of pull names: at the namespace topic, its namespace or the scope that is forwarded. */
export function pullFailureContext(pull: PullMetadata, resourceManager: string, scopeId: string): FailureContext {
  const { namespaceTopic } = pull
  return {
    ...common(pull, resourceManager),
    scopeId,
    pathKind: 'namespaceTopic',
    isHostRead: scopeId === namespaceTopic.namespaceId,
    subscriptionId: namespaceTopic.subscriptionId,
    // No handshake belongs to a Queue event subscription.
    subscriberEndpoint: '',
    secrets: secretsOf({ pull }),
  }
}

const common = ({ eventSubscriptionName, clientId, provisioning }: EitherInput, resourceManager: string) => ({
  eventSubscriptionName,
  clientId,
  resourceManager,
  isReadOnly: provisioning === 'check',
})

/** A context for messages about event subscriptions that exist: their secret attributes are not shown either, and `Failed` is said. */
export function withSecretsOf(context: FailureContext, existing: readonly SubscriptionProperties[]): FailureContext {
  const values = existing
    .flatMap((properties) => webHookOf(properties)?.deliveryAttributeMappings ?? [])
    .flatMap(({ properties: { isSecret, value } = {} }) =>
      isSecret && value ? [value, ...splitDeliveryCredentials(value)] : [],
    )
  const isFailed = existing.some(({ provisioningState }) => provisioningState === 'Failed')
  return { ...context, isFailed, secrets: [...context.secrets, ...values] }
}
