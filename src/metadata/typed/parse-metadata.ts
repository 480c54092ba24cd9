/** Validates all fields together: those that decide about others first, then values, what is missing, and conflicts. */

import type { Side } from '../../core/component.ts'
import type { MetadataIssue } from '../../core/errors.ts'
import { quote } from '../../support/text/text.ts'
import { isNamespaceTopic } from '../fields/addresses.ts'
import { brokenRule, metadataInvalid } from '../fields/faults.ts'
import { resetToDefault } from '../fields/field.ts'
import { entryToWrite, findField, metadataFields, type Values } from '../fields/find-field.ts'
import { type Circumstances, credentialFields, hasCredential, type Reader } from '../fields/needs.ts'
import { outputMetadata, type ParsedMetadata, pullMetadata, pushMetadata } from './metadata.ts'
import { type GivenFields, type MetadataProperties, readProperties } from './read-properties.ts'

export interface ParseMetadataOptions {
  /** The component's name, from which the name of the event subscription is made where none is given. */
  readonly componentName?: string
  /** Did the host hand over a credential? It lifts the fields it replaces. @default false */
  readonly credentialGiven?: boolean
  /** May `handshakePort` be `"0"`, which takes a free port? For the library only. @default false */
  readonly allowAnyPort?: boolean
  /** Takes the place of the field: for `provision`, which writes for a component whose replicas have `none`. @default the field */
  readonly provisioning?: 'manage'
}

/**
 * Parses the metadata fields of a component (docs/metadata.md).
 *
 * @throws BindingError METADATA_INVALID, whose `issues` hold every fault of every side that is configured. A fault of a field that
 *   decides what else is required is reported alone
 */
export function parseMetadata(properties: MetadataProperties, options: ParseMetadataOptions = {}): ParsedMetadata {
  const { componentName } = options
  const { metadata, issues } = readMetadata(properties, options)
  if (metadata) return metadata
  const subject = componentName ? `the metadata of component ${quote(componentName)}` : 'the metadata'
  throw metadataInvalid(`${subject} is not valid`, issues)
}

interface MetadataReading {
  /** The sides that are configured, as far as that is known. */
  readonly sides: ReadonlySet<Side>
  /** Undefined where there are issues, or a value that is not known. */
  readonly metadata?: ParsedMetadata
  /** What {@link parseMetadata} throws; with an `UnknownValue` among the properties, the issues of the others. */
  readonly issues: readonly MetadataIssue[]
}

/** Reads metadata fields as {@link parseMetadata} does, and throws nothing. */
export function readMetadata(properties: MetadataProperties, options: ParseMetadataOptions = {}): MetadataReading {
  const given = readProperties(properties)
  const { fields, values } = given
  const sides = values.direction ?? configuredSides(given)
  const faulty = (issues: readonly MetadataIssue[]): MetadataReading => ({
    sides,
    issues: [...completed(issues, given), ...given.unknown],
  })
  // Where no field says which side is meant, it may be either.
  const mayBeMeant = (side: Side) => sides.size === 0 || sides.has(side)
  const deciding = namesOf((field) => field.decides && field.sides.some(mayBeMeant))
  const undecided = withBareValues(faultsOf(given, deciding), given, deciding)
  if (undecided.length > 0) return faulty(undecided)
  // What follows from a value that is not known is not known either.
  const isDecided = [...deciding].every((name) => !fields.has(name) || fields.get(name)?.text !== undefined)
  if (sides.size === 0 && isDecided) return faulty([...unnamed(given), nothingConfigured])

  const by: Circumstances = {
    ...values,
    provisioning: options.provisioning ?? values.provisioning,
    credentialGiven: options.credentialGiven ?? false,
    has: (name) => fields.has(name),
  }
  const configured: Reader[] = []
  if (sides.has('input')) configured.push(values.deliveryMode)
  if (sides.has('output')) configured.push('output')
  const borrows = sides.has('output') && isEntra(given)
  const read = namesOf(
    ({ name, readers }) =>
      readers.some((reader) => configured.includes(reader)) || (borrows && isCredentialField(name)),
  )
  const found = [...unnamed(given), ...faultsOf(given, read, configured)]
  const isOutputSound = !found.some(({ field = '' }) => findField(field)?.sides.includes('output'))
  if (isDecided) {
    const [input = [], output] = configured.map((reader) => missingFor(reader, by))
    found.push(...input, ...(output ?? []))
    if (input.length > 0 && output?.length === 0 && isOutputSound && !fields.has('direction')) found.push(onlyToPublish)
  }
  if (sides.has('input')) found.push(...inputConflicts(values, by, options))
  if (sides.has('output')) found.push(...outputConflicts(values))
  const issues = withBareValues(found, given, read)
  if (issues.length > 0) return faulty(issues)
  if (given.isIncomplete) return { sides, issues }
  const context = { ...options, provisioning: by.provisioning, hasCredential: hasCredential(by) }
  const metadata: ParsedMetadata = {
    push: configured.includes('push') ? pushMetadata(values, context) : undefined,
    pull: configured.includes('pull') ? pullMetadata(values, context) : undefined,
    output: configured.includes('output') ? outputMetadata(values, context) : undefined,
    direction: values.direction,
    warnings: warnings(given, configured),
  }
  return { sides, metadata, issues }
}

const namesOf = (isMeant: (field: (typeof metadataFields)[number]) => boolean): ReadonlySet<string> =>
  new Set(metadataFields.filter(isMeant).map(({ name }) => name))

/** The faults of these fields, the stricter rules of the configured way of delivery in place of their own. */
function faultsOf(given: GivenFields, names: ReadonlySet<string>, configured: readonly Reader[] = []) {
  const broken = new Map(given.broken)
  for (const { name, stricter } of metadataFields) {
    const text = given.fields.get(name)?.text
    if (text === undefined) continue
    try {
      if (configured.includes('push')) stricter.push?.(text)
      if (configured.includes('pull')) stricter.pull?.(text)
    } catch (error) {
      broken.set(name, { field: name, ...brokenRule(error) })
    }
  }
  return [...given.issues, ...broken.values()].filter(({ field = '' }) => names.has(field))
}

/** Adds a fault for each number or boolean without quotes, except where the field has another fault: quotes would not correct that one. */
function withBareValues(found: readonly MetadataIssue[], { fields }: GivenFields, names: ReadonlySet<string>) {
  const bare = [...fields].flatMap(([field, { isBare, text }]): MetadataIssue[] => {
    if (!isBare || !names.has(field) || found.some((issue) => issue.field === field)) return []
    return [{ field, rule: 'must be a string', fix: `put it in quotes: ${field}: "${text}"` }]
  })
  return [...found, ...bare]
}

/** Faults of reading that belong to no field. */
const unnamed = ({ issues }: GivenFields) => issues.filter(({ field = '' }) => !findField(field))

/** The issues in the order of the table, each once, with what was written and where. */
function completed(issues: readonly MetadataIssue[], { fields }: GivenFields): readonly MetadataIssue[] {
  const order = ({ field }: MetadataIssue) => metadataFields.findIndex(({ name }) => name === field)
  const complete = issues.map((issue) => {
    const written = fields.get(issue.field ?? '')
    return written ? { value: written.shown, ...(written.at !== undefined && { at: written.at }), ...issue } : issue
  })
  // A field that is given three times would be told twice.
  const once = new Map(complete.map((issue) => [JSON.stringify([issue.field, issue.rule, issue.at]), issue]))
  return [...once.values()].toSorted((one, other) => order(one) - order(other))
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

function warnings(given: GivenFields, configured: readonly Reader[]): readonly MetadataIssue[] {
  const { fields } = given
  const found = [...given.unknown]
  const [mode] = configured
  if (mode === 'output' || mode === undefined) return found
  for (const { name, readers, sides } of metadataFields) {
    const isUnused = fields.has(name) && sides.includes('input') && !readers.includes(mode)
    if (isUnused) found.push({ field: name, rule: `has no effect with deliveryMode ${mode}` })
  }
  const subscription = fields.get('subscriptionId')
  if (subscription?.text && !uuid.test(subscription.text)) {
    const rule = 'is not a UUID, as the ids of Azure subscriptions are'
    found.push({ field: 'subscriptionId', value: subscription.shown, rule })
  }
  return found
}

const isCredentialField = (name: string) => credentialFields.some((field) => field === name)

const isEntra = ({ fields }: GivenFields) => fields.get('topicAuthentication')?.text?.toLowerCase() === 'entra'

/**
 * The sides that are on where `direction` is not given: the sides with a field that no other side reads. With `topicAuthentication: entra`
 * both sides read the credential fields.
 */
function configuredSides(given: GivenFields): ReadonlySet<Side> {
  const shared = isEntra(given)
  const own = metadataFields.filter(({ name, sides }) => sides.length === 1 && !(shared && isCredentialField(name)))
  return new Set(own.flatMap(({ name, sides }) => (given.fields.has(name) ? sides : [])))
}

/** A fault for each required field that is not there. */
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

const requiredBy = (side: Side) => [...namesOf(({ required, sides }) => required && sides.includes(side))].join(', ')

/** The fault where no side is configured. */
const nothingConfigured: MetadataIssue = {
  rule: 'configures neither the input nor the output side',
  fix: `set ${requiredBy('input')} for the input side, ${requiredBy('output')} for the output side, or both`,
}

/** Takes what could be parsed. */
function inputConflicts(values: Values, by: Circumstances, options: { readonly allowAnyPort?: boolean }) {
  const issues: MetadataIssue[] = []
  const { scope, subscriptionId, deliveryMode, handshakePort, tenantId, azureEnvironment, eventGridClientId } = values
  if (deliveryMode === 'push' && handshakePort === 0 && !options.allowAnyPort) {
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
function outputConflicts(values: Values): readonly MetadataIssue[] {
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
