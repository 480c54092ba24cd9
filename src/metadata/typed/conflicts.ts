/** The faults between fields that are right each by itself. */
import type { MetadataIssue } from '../../core/errors.ts'
import type { Values } from '../fields/find-field.ts'
import { type Circumstances, hasCredential } from '../fields/needs.ts'
import { isNamespaceTopic } from '../fields/parse-endpoint.ts'
import { resetToDefault } from '../fields/setting-value.ts'

/** Takes what could be parsed. */
export function inputConflicts(values: Values, by: Circumstances, options: { readonly allowAnyPort?: boolean }) {
  const issues: MetadataIssue[] = []
  const { scope, subscriptionId, deliveryMode, handshakePort, tenantId, azureEnvironment, eventGridClientId } = values
  if (handshakePort === 0 && !options.allowAnyPort) {
    const rule = 'must be a port from 1 to 65535: 0 takes a free one in the library only'
    issues.push({ field: 'handshakePort', rule })
  }
  const isElsewhere = scope && subscriptionId && scope.subscriptionId.toLowerCase() !== subscriptionId.toLowerCase()
  if (deliveryMode === 'push' && isElsewhere) {
    const rule = 'must lie in the subscription of subscriptionId'
    issues.push({ field: 'scope', rule, fix: 'make the two ids the same' })
  }
  // The specification's rule binds what the binding creates. With the key of a namespace alone it creates nothing.
  const isCreated = by.provisioning === 'manage' && (deliveryMode === 'push' || hasCredential(by))
  if (isCreated && values.eventSubscriptionName?.includes('-')) {
    const rule = 'must be letters and digits alone where the binding creates the event subscription'
    const fix = 'for one that exists already, set provisioning: check, or none: see Names in docs/migration.md'
    issues.push({ field: 'eventSubscriptionName', rule, fix })
  }
  const { deadLetterStorageAccountId: account, deadLetterContainer: container } = values
  if (account && container && (account === resetToDefault) !== (container === resetToDefault)) {
    const rule = 'and deadLetterContainer must both be default, or neither'
    issues.push({ field: 'deadLetterStorageAccountId', rule })
  }
  if (deliveryMode === 'pull' || by.deliveryAuthentication !== 'entra') return issues
  if (!(eventGridClientId ?? azureEnvironment.eventGridClientId)) {
    const rule = `is required with deliveryAuthentication entra in ${azureEnvironment.name}`
    const fix = 'look it up: az ad sp list --display-name Microsoft.EventGrid --query [].appId'
    issues.push({ field: 'eventGridClientId', rule, fix })
  }
  // Tokens name the tenant by its id, so by a domain name every delivery would be refused and dropped.
  if (tenantId?.includes('.')) {
    const rule = "must be the tenant's id with deliveryAuthentication entra, not a domain name"
    issues.push({ field: 'tenantId', rule, fix: 'az account show --query tenantId prints it' })
  }
  return issues
}

/** Takes what could be parsed. */
export function outputConflicts(values: Values): readonly MetadataIssue[] {
  const { topicAuthentication, topicEndpoint = '', topicSchema } = values
  const issues: MetadataIssue[] = []
  if (topicAuthentication === 'entra' && /^http:/i.test(topicEndpoint)) {
    const rule = 'must be https with topicAuthentication entra: a token is never sent over plain http'
    issues.push({ field: 'topicEndpoint', rule, fix: 'use the https endpoint of the topic' })
  }
  if (topicSchema === 'EventGridSchema' && isNamespaceTopic(topicEndpoint)) {
    const rule = 'must be CloudEventSchemaV1_0 or auto: a namespace topic takes CloudEvents only'
    issues.push({ field: 'topicSchema', rule, fix: 'take topicSchema out' })
  }
  return issues
}
