// Typed metadata of each side from the values of fields that have no fault, alone or between them.
import { checked } from '../fields/checked.ts'
import type { Values } from '../fields/find-field.ts'
import { isNamespaceTopic } from '../fields/parse-endpoint.ts'
import { resetToDefault } from '../fields/setting-value.ts'
import { derivePullName, deriveSubscriptionName } from '../fields/subscription-name.ts'
import type {
  CredentialMetadata,
  DeliveryAuthentication,
  EitherInput,
  InputMetadata,
  OutputMetadata,
  PullMetadata,
  SubscriptionSettings,
} from './metadata.ts'

interface SideOptions {
  readonly componentName?: string
  readonly credentialGiven?: boolean
  readonly provisioning: Values['provisioning']
  /** Is there anything that a credential is made of? */
  readonly hasCredential: boolean
}

export function inputMetadata(values: Values, options: SideOptions): InputMetadata {
  const { listenAddress, maxRequestBytes } = values
  const subscriberEndpoint = checked('subscriberEndpoint', values.subscriberEndpoint)
  const scope = checked('scope', values.scope)
  const defaultName = deriveSubscriptionName(options.componentName, { scope, subscriberEndpoint })
  return {
    ...eitherInput(values, defaultName, options),
    ...{ subscriberEndpoint, scope, listenAddress, maxRequestBytes },
    handshakePort: checked('handshakePort', values.handshakePort),
    subscriptionId: values.subscriptionId ?? scope.subscriptionId,
    deliveryAuthentication: deliveryAuthentication(values),
  }
}

export function pullMetadata(values: Values, options: SideOptions): PullMetadata {
  const { namespaceEndpoint, namespaceKey, scope, lockDuration } = values
  const namespaceTopic = checked('namespaceTopic', values.namespaceTopic)
  const isTopicItself = scope?.id.toLowerCase() === namespaceTopic.id.toLowerCase()
  return {
    ...eitherInput(values, derivePullName(options.componentName, namespaceTopic.id, scope), options),
    ...{ namespaceTopic, namespaceEndpoint, namespaceKey },
    forwardedScope: isTopicItself ? undefined : scope,
    lockDurationSeconds: lockDuration,
  }
}

export function outputMetadata(values: Values, options: SideOptions): OutputMetadata {
  const { topicAuthentication, azureEnvironment, publishTimeout, topicSchema } = values
  const topicEndpoint = checked('topicEndpoint', values.topicEndpoint)
  return {
    topicEndpoint,
    authentication:
      topicAuthentication === 'entra'
        ? { kind: topicAuthentication, credential: credentialMetadata(values, options) }
        : { kind: topicAuthentication, accessKey: checked('accessKey', values.accessKey) },
    environment: azureEnvironment,
    topicSchema: isNamespaceTopic(topicEndpoint) ? 'CloudEventSchemaV1_0' : topicSchema,
    publishTimeoutMs: publishTimeout,
  }
}

/** @param defaultName of the event subscription */
function eitherInput(values: Values, defaultName: string, options: SideOptions): EitherInput {
  const { clientId, maxConcurrency, replaceDestination } = values
  return {
    ...{ clientId, maxConcurrency, replaceDestination },
    provisioning: options.provisioning,
    credential: options.hasCredential ? credentialMetadata(values, options) : undefined,
    environment: values.azureEnvironment,
    eventSubscriptionName: values.eventSubscriptionName ?? defaultName,
    settings: subscriptionSettings(values),
    handlerTimeoutMs: values.handlerTimeout,
    subscriptionTimeoutMs: values.subscriptionTimeout,
  }
}

function subscriptionSettings(values: Values): SubscriptionSettings {
  const { eventDeliverySchema, includedEventTypes, subjectBeginsWith, subjectEndsWith, advancedFilters } = values
  const { maxDeliveryAttempts, maxEventsPerBatch, preferredBatchSizeInKilobytes, labels } = values
  return {
    ...{ eventDeliverySchema, includedEventTypes, subjectBeginsWith, subjectEndsWith, advancedFilters },
    ...{ maxDeliveryAttempts, maxEventsPerBatch, preferredBatchSizeInKilobytes, labels },
    eventTimeToLiveMinutes: values.eventTimeToLive,
    deadLetter: deadLetterSetting(values),
  }
}

function deadLetterSetting(values: Values): SubscriptionSettings['deadLetter'] {
  const { deadLetterStorageAccountId: storageAccountId, deadLetterContainer: container } = values
  if (storageAccountId === undefined || container === undefined) return undefined
  if (storageAccountId === resetToDefault || container === resetToDefault) return resetToDefault
  return { storageAccountId, container }
}

function deliveryAuthentication(values: Values): DeliveryAuthentication {
  const { tenantId, clientId, azureEnvironment, deliveryAuthentication: kind } = values
  switch (kind) {
    case 'none':
      return { kind }
    case 'entra': {
      const eventGridClientId = values.eventGridClientId ?? azureEnvironment.eventGridClientId
      return {
        kind,
        tenantId: checked('tenantId', tenantId),
        clientId: checked('clientId', clientId),
        eventGridClientId: checked('eventGridClientId', eventGridClientId),
      }
    }
    case 'secret':
      return { kind, sources: values.deliveryToken ?? [checked('clientSecret', values.clientSecret)] }
  }
}

/** The credential that the fields describe; the host's own credential goes first. */
function credentialMetadata(values: Values, { credentialGiven }: SideOptions): CredentialMetadata {
  const { azureCredential: kind, tenantId, clientId, clientSecret } = values
  if (credentialGiven) return { kind: 'host' }
  switch (kind) {
    case 'clientSecret':
      return {
        kind,
        tenantId: checked('tenantId', tenantId),
        clientId: checked('clientId', clientId),
        clientSecret: checked('clientSecret', clientSecret),
      }
    case 'managedIdentity':
      return { kind, clientId }
    case 'cli':
      return { kind, tenantId }
    default:
      return { kind, tenantId, clientId }
  }
}
