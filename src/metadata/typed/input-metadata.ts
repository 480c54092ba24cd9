// Input-side values from parsed fields; conflicts between fields (subscription, dead letter, entra tenant).
import type { MetadataIssue } from '../../core/errors.ts'
import { checked } from '../fields/checked.ts'
import type { InputValues, Partly, PullValues } from '../fields/schema.ts'
import { deriveSubscriptionName } from '../fields/subscription-name.ts'
import { credentialMetadata } from './credential-metadata.ts'
import {
  type DeliveryAuthentication,
  type EitherInput,
  type InputMetadata,
  resetToDefault,
  type SubscriptionSettings,
} from './metadata.ts'

/** What is wrong between fields that are right each by itself; takes what could be parsed. */
export function inputConflicts(values: Partly<InputValues>): readonly MetadataIssue[] {
  const issues: MetadataIssue[] = []
  const { scope, subscriptionId, deadLetterStorageAccountId: account, deadLetterContainer: container } = values
  if (scope && subscriptionId && scope.subscriptionId.toLowerCase() !== subscriptionId.toLowerCase()) {
    const rule = 'must lie in the subscription of subscriptionId'
    issues.push({ field: 'scope', rule, fix: 'make the two ids the same' })
  }
  if (account && container && (account === resetToDefault) !== (container === resetToDefault)) {
    const rule = 'and deadLetterContainer must both be default, or neither'
    issues.push({ field: 'deadLetterStorageAccountId', rule })
  }
  const { deliveryAuthentication, azureEnvironment, eventGridClientId, tenantId } = values
  if (
    deliveryAuthentication === 'entra' &&
    azureEnvironment &&
    !(eventGridClientId ?? azureEnvironment.eventGridClientId)
  ) {
    const rule = `is required with deliveryAuthentication entra in ${azureEnvironment.name}`
    const fix = 'look it up: az ad sp list --display-name Microsoft.EventGrid --query [].appId'
    issues.push({ field: 'eventGridClientId', rule, fix })
  }
  // Tokens name the tenant by its id, so by a domain name every delivery would be refused and dropped.
  if (deliveryAuthentication === 'entra' && tenantId?.includes('.')) {
    const rule = "must be the tenant's id with deliveryAuthentication entra, not a domain name"
    issues.push({ field: 'tenantId', rule, fix: 'az account show --query tenantId prints it' })
  }
  return issues
}

export interface InputMetadataOptions {
  readonly componentName: string | undefined
  readonly credentialGiven: boolean
  /** Is there anything that a credential is made of? */
  readonly hasCredential: boolean
}

/** The input side of values that have no fault, alone or between them. */
export function inputMetadata(values: InputValues, options: InputMetadataOptions): InputMetadata {
  const { subscriberEndpoint, handshakePort, listenAddress, scope, maxRequestBytes } = values
  return {
    ...eitherInput(values, deriveSubscriptionName(options.componentName, values), options),
    ...{ subscriberEndpoint, handshakePort, listenAddress, scope, maxRequestBytes },
    subscriptionId: values.subscriptionId ?? scope.subscriptionId,
    deliveryAuthentication: deliveryAuthentication(values),
  }
}

/** Values of the fields that push and pull share. */
type SharedValues = Omit<InputValues, Exclude<keyof InputValues, keyof PullValues> | 'scope'>

/** @param defaultName of the event subscription */
export function eitherInput(values: SharedValues, defaultName: string, options: InputMetadataOptions): EitherInput {
  const { clientId, replaceDestination, maxConcurrency, provisioning } = values
  return {
    ...{ clientId, replaceDestination, maxConcurrency, provisioning },
    credential: options.hasCredential ? credentialMetadata(values, options) : undefined,
    environment: values.azureEnvironment,
    eventSubscriptionName: values.eventSubscriptionName ?? defaultName,
    settings: subscriptionSettings(values),
    handlerTimeoutMs: values.handlerTimeout,
    subscriptionTimeoutMs: values.subscriptionTimeout,
  }
}

function subscriptionSettings(values: SharedValues): SubscriptionSettings {
  const { eventDeliverySchema, includedEventTypes, subjectBeginsWith, subjectEndsWith, advancedFilters } = values
  const { maxDeliveryAttempts, maxEventsPerBatch, preferredBatchSizeInKilobytes, labels } = values
  return {
    ...{ eventDeliverySchema, includedEventTypes, subjectBeginsWith, subjectEndsWith, advancedFilters },
    ...{ maxDeliveryAttempts, maxEventsPerBatch, preferredBatchSizeInKilobytes, labels },
    eventTimeToLiveMinutes: values.eventTimeToLive,
    deadLetter: deadLetterSetting(values),
  }
}

function deadLetterSetting(values: SharedValues): SubscriptionSettings['deadLetter'] | undefined {
  const { deadLetterStorageAccountId: storageAccountId, deadLetterContainer: container } = values
  if (storageAccountId === undefined || container === undefined) return undefined
  if (storageAccountId === resetToDefault || container === resetToDefault) return resetToDefault
  return { storageAccountId, container }
}

function deliveryAuthentication(values: InputValues): DeliveryAuthentication {
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
