/** Validates all fields together: those that decide about others first, then values, what is missing, and conflicts. */

import type { Side } from '../../core/component.ts'
import type { MetadataIssue } from '../../core/errors.ts'
import { quote } from '../../support/text/text.ts'
import { isNamespaceTopic } from '../fields/addresses.ts'
import { BrokenRule, metadataInvalid } from '../fields/faults.ts'
import { type Circumstances, credentialFields, hasCredential, type Reader, resetToDefault } from '../fields/field.ts'
import {
  entryToWrite,
  type FieldName,
  findField,
  metadataFields,
  type Values,
  valuesSchema,
} from '../fields/find-field.ts'
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
  const { fields } = given
  const { direction } = valuesOf(given, new Set(['direction'])).values
  const sides = direction ?? configuredSides(given)
  const faulty = (issues: readonly MetadataIssue[]): MetadataReading => ({
    sides,
    issues: [...sorted(issues, given), ...given.unknown],
  })
  // Where no field says which side is meant, it may be either.
  const mayBeMeant = (side: Side) => sides.size === 0 || sides.has(side)
  const deciders = metadataFields.filter((field) => field.decides && field.sides.some(mayBeMeant))
  const deciding = new Set(deciders.map(({ name }) => name))
  const decided = valuesOf(given, deciding)
  const undecided = [...decided.issues, ...bareValues(given, deciding, decided.issues)]
  if (undecided.length > 0) return faulty(undecided)
  // What follows from a value that is not known is not known either.
  const isUndecided = [...deciding].some((name) => fields.has(name) && fields.get(name)?.text === undefined)
  if (sides.size === 0 && !isUndecided) return faulty([...unnamed(given), nothingConfigured])

  const written = new Set<string>(fields.keys())
  const provisioning = options.provisioning ?? decided.values.provisioning
  const by: Circumstances = {
    ...decided.values,
    provisioning,
    credentialGiven: options.credentialGiven ?? false,
    has: (name) => written.has(name),
  }
  const configured: Reader[] = []
  if (sides.has('input')) configured.push(decided.values.deliveryMode)
  if (sides.has('output')) configured.push('output')
  const read = fieldsRead(configured, given)
  const { values, issues } = valuesOf(given, read, configured)
  const found = [...unnamed(given), ...issues]
  const isOutputSound = !found.some(({ field }) => field !== undefined && findField(field)?.sides.includes('output'))
  if (!isUndecided) found.push(...missingFields(configured, by, given, { isOutputSound }))
  if (sides.has('input')) found.push(...inputConflicts(values, by, options))
  if (sides.has('output')) found.push(...outputConflicts(values))
  found.push(...bareValues(given, read, found))
  if (found.length > 0) return faulty(found)
  if (given.isIncomplete) return { sides, issues: [] }
  const sideOptions = { ...options, provisioning, hasCredential: hasCredential(by) }
  const metadata: ParsedMetadata = {
    push: configured.includes('push') ? pushMetadata(values, sideOptions) : undefined,
    pull: configured.includes('pull') ? pullMetadata(values, sideOptions) : undefined,
    output: configured.includes('output') ? outputMetadata(values, sideOptions) : undefined,
    direction,
    warnings: warnings(given, configured),
  }
  return { sides, metadata, issues: [] }
}

/** Values of these fields, and their faults. One that breaks its rule counts as left out. */
function valuesOf(given: GivenFields, names: ReadonlySet<FieldName>, configured: readonly Reader[] = []) {
  const texts = [...given.fields].flatMap(([name, { text }]) =>
    names.has(name) && text !== undefined ? [[name, text] as const] : [],
  )
  const parsed = valuesSchema.safeParse(Object.fromEntries(texts))
  const broken = new Map<unknown, MetadataIssue>()
  for (const issue of parsed.error?.issues ?? []) {
    const [field] = issue.path
    const fix: unknown = issue.code === 'custom' ? issue.params?.fix : undefined
    broken.set(field, { field: String(field), rule: issue.message, ...(typeof fix === 'string' && { fix }) })
  }
  for (const [field, text] of texts) {
    const { push, pull } = findField(field)?.stricter ?? {}
    try {
      if (configured.includes('push')) push?.(text)
      if (configured.includes('pull')) pull?.(text)
    } catch (error) {
      if (!(error instanceof BrokenRule)) throw error
      broken.set(field, { field, rule: error.rule, ...(error.fix !== undefined && { fix: error.fix }) })
    }
  }
  const faults = given.issues.filter(({ field }) => [...names].some((name) => name === field))
  const sound = texts.filter(([name]) => !broken.has(name))
  const values: Values = parsed.data ?? valuesSchema.parse(Object.fromEntries(sound))
  return { values, issues: [...faults, ...broken.values()] }
}

/** Faults of values without quotes that have no other: quotes alone would not mend those. */
function bareValues({ fields }: GivenFields, names: ReadonlySet<FieldName>, found: readonly MetadataIssue[]) {
  return [...fields].flatMap(([field, { isBare, text }]): MetadataIssue[] => {
    if (!isBare || !names.has(field) || found.some((issue) => issue.field === field)) return []
    return [{ field, rule: 'must be a string', fix: `put it in quotes: ${field}: "${text}"` }]
  })
}

/** Faults of reading that belong to no field. */
const unnamed = ({ issues }: GivenFields) => issues.filter(({ field }) => field === undefined || !findField(field))

/** The issues in the order of the table, each once, with what was written and where. */
function sorted(issues: readonly MetadataIssue[], { fields }: GivenFields): readonly MetadataIssue[] {
  const order = (name: string | undefined) => metadataFields.findIndex((field) => field.name === name)
  const complete = issues.map((issue) => {
    const field = issue.field === undefined ? undefined : findField(issue.field)?.name
    const written = field && fields.get(field)
    return written ? { value: written.shown, ...(written.at !== undefined && { at: written.at }), ...issue } : issue
  })
  // The ways of delivery and the sides share fields, whose faults each of them may report.
  const once = new Map(complete.map((issue) => [JSON.stringify([issue.field, issue.rule, issue.at]), issue]))
  return [...once.values()].toSorted((one, other) => order(one.field) - order(other.field))
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

/** The sides that are on without `direction`: each with a field that no other reads. With Entra's tokens both read the credential. */
const configuredSides = (given: GivenFields): ReadonlySet<Side> =>
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
function fieldsRead(configured: readonly Reader[], given: GivenFields): ReadonlySet<FieldName> {
  const lent = configured.includes('output') && isEntra(given)
  const read = metadataFields.filter(
    ({ name, readers }) => readers.some((reader) => configured.includes(reader)) || (lent && isCredentialField(name)),
  )
  return new Set(['direction', ...read.map(({ name }) => name)])
}

/** A fault for each required field that is not there. */
function missingFields(
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
const nothingConfigured: MetadataIssue = {
  rule: 'configures neither the input nor the output side',
  fix: `set ${namesOf('input')} for the input side, ${namesOf('output')} for the output side, or both`,
}

/** Takes what could be parsed. */
function inputConflicts(values: Values, by: Circumstances, options: { readonly allowAnyPort?: boolean }) {
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
