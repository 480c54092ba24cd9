/** What holds between fields: which sides are on, which required fields are missing, and which values exclude each other. */
import type { Side } from '../../core/component.ts'
import type { MetadataIssue } from '../../core/errors.ts'
import { isNamespaceTopic } from '../fields/addresses.ts'
import { type Circumstances, credentialFields, hasCredential, type Reader, resetToDefault } from '../fields/field.ts'
import { entryToWrite, type FieldName, findField, metadataFields, type Values } from '../fields/find-field.ts'
import type { GivenFields } from './read-properties.ts'

const isCredentialField = (name: string) => credentialFields.some((field) => field === name)

const isEntra = ({ fields }: GivenFields) => fields.get('topicAuthentication')?.text?.toLowerCase() === 'entra'

/** The sides that are on without `direction`: each with a field that no other reads. With Entra's tokens both read the credential. */
export const configuredSides = (given: GivenFields): ReadonlySet<Side> =>
  new Set((['input', 'output'] as const).filter((side) => ownFields(side, given).length > 0))

/** The present fields that only this side reads, and that therefore configure it. */
function ownFields(side: Side, given: GivenFields): readonly FieldName[] {
  const shared = isEntra(given)
  return [...given.fields.keys()].filter((name) => {
    const [only, another] = findField(name)?.sides ?? []
    return only === side && !another && !(shared && isCredentialField(name))
  })
}

/** The fields that these read: their own, and for an output with Entra tokens those of the credential. */
export function fieldsRead(configured: readonly Reader[], given: GivenFields): ReadonlySet<FieldName> {
  const lent = configured.includes('output') && isEntra(given)
  const read = metadataFields.filter(
    ({ name, readers }) => readers.some((reader) => configured.includes(reader)) || (lent && isCredentialField(name)),
  )
  return new Set(['direction', ...read.map(({ name }) => name)])
}

/** A fault for each required field that is not there. */
export function missingFields(
  configured: readonly Reader[],
  by: Circumstances,
  given: GivenFields,
  /** Has the output side no other fault? */
  { isOutputSound }: { readonly isOutputSound: boolean },
): readonly MetadataIssue[] {
  const missing = configured.map((reader) => missingFor(reader, by))
  const [input, output] = missing
  const isOutputAlone = isOutputSound && !given.fields.has('direction') && output?.length === 0
  return [...missing.flat(), ...(isOutputAlone && input && input.length > 0 ? [onlyToPublish] : [])]
}

function missingFor(reader: Reader, by: Circumstances): readonly MetadataIssue[] {
  return metadataFields.flatMap((field): MetadataIssue[] => {
    const { name, needed } = field
    const need = by.has(name) ? undefined : needed(by, reader)
    if (!need) return []
    const fix = `write ${entryToWrite(field)}${need.or === undefined ? '' : `, or ${need.or}`}`
    return [{ field: name, rule: `is required ${need.why}`, fix }]
  })
}

const onlyToPublish = {
  field: 'direction',
  rule: 'is not given, so the input side has to be whole too',
  fix: 'to publish only, set direction: output, as { name: direction, value: output }',
} satisfies MetadataIssue

const namesOf = (side: Side) =>
  metadataFields.flatMap(({ name, required, sides }) => (required && sides.includes(side) ? name : [])).join(', ')

/** The fault where no side is configured. */
export const nothingConfigured: MetadataIssue = {
  rule: 'configures neither the input nor the output side',
  fix: `set ${namesOf('input')} for the input side, ${namesOf('output')} for the output side, or both`,
}

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
