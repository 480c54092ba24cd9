// Validation of all fields together: sides, defaults, conflicts, unknown names, warnings, order of issues.
import type { z } from 'zod'
import type { MetadataIssue } from '../../core/errors.ts'
import { quote } from '../../support/text/text.ts'
import { checked } from '../fields/checked.ts'
import type { Side } from '../fields/field-table.ts'
import { entryToWrite, type FieldName, findField, metadataFields } from '../fields/fields.ts'
import { isNamespaceTopic } from '../fields/parse-endpoint.ts'
import { inputSchema, type OutputValues, outputSchema, type Partly, pullSchema } from '../fields/schema.ts'
import { configuredSides, fieldsRead, ownFields, parseDirection } from './configured-sides.ts'
import { credentialMetadata } from './credential-metadata.ts'
import { inputConflicts, inputMetadata } from './input-metadata.ts'
import type { Metadata, OutputMetadata } from './metadata.ts'
import { describeIssue, metadataInvalid } from './metadata-invalid.ts'
import { pullConflicts, pullMetadata, unusedFields } from './pull-metadata.ts'
import { type GivenFields, type MetadataProperties, readProperties } from './read-properties.ts'
import { hasCredential, isPull, missingFields, type RequiredBy, requiredOf } from './required-fields.ts'

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
 * Parses the metadata fields of a component (specification, section 2.2; docs/metadata.md).
 *
 * @throws BindingError METADATA_INVALID, whose `issues` hold every fault of every side that is configured
 */
export function parseMetadata(properties: MetadataProperties, options: ParseMetadataOptions = {}): Metadata {
  const { componentName } = options
  const { metadata, issues } = readMetadata(properties, options)
  if (metadata) return metadata
  const subject = componentName ? `the metadata of component ${quote(componentName)}` : 'the metadata'
  throw metadataInvalid(`${subject} is not valid`, issues)
}

interface MetadataReading {
  /** Undefined where there are issues, or a value that is not known. */
  readonly metadata?: Metadata
  /** What {@link parseMetadata} throws; with an `UnknownValue` among the properties, the issues of the others. */
  readonly issues: readonly MetadataIssue[]
}

/** Reads metadata fields as {@link parseMetadata} does, and throws nothing. */
export function readMetadata(properties: MetadataProperties, options: ParseMetadataOptions = {}): MetadataReading {
  const { componentName, credentialGiven = false, allowAnyPort = false, provisioning } = options
  const given = readProperties(properties)
  const { sides, issues } = readSides(given)
  const texts = { ...withDefaults(given), ...(provisioning && { provisioning }) }
  const by: RequiredBy = { has: (name) => given.fields.has(name), textOf: (name) => texts[name], credentialGiven }

  const read = (side: Side) => (sides.has(side) ? fieldsRead(side, texts.topicAuthentication) : [])
  const pulls = sides.has('input') && isPull(by.textOf)
  const pull = pulls ? judge(pullSchema, texts, read('input')) : undefined
  const pushes = sides.has('input') && !pulls
  const input = pushes ? judge(inputSchema({ allowAnyPort }), texts, read('input')) : undefined
  const output = sides.has('output') ? judge(outputSchema, texts, read('output')) : undefined
  for (const side of sides) {
    const reason = reasonOf(side, given)
    for (const { field, ...issue } of missingFields(side, by)) {
      const write = `write ${entryToWrite(field)}`
      const fix = reason === undefined ? write : `${write} (${reason})`
      issues.push({ fix, ...withValue({ field, ...issue }, given) })
    }
  }
  if (input) issues.push(...input.issues, ...inputConflicts(input.partly))
  if (pull) issues.push(...pull.issues, ...pullConflicts(pull.partly, given))
  if (output) issues.push(...output.issues, ...outputConflicts(output.partly))

  const found = [
    ...given.issues.filter(({ field }) => belongsTo(field, [...read('input'), ...read('output')])),
    ...issues.map((issue) => withValue(issue, given)),
  ]
  if (found.length > 0) {
    const unknown = given.unknown.map(({ issue }) => issue)
    return { issues: [...inTableOrder(unique(found)), ...unknown] }
  }
  if (given.isIncomplete) return { issues: [] }
  const inputOptions = { componentName, credentialGiven, hasCredential: hasCredential(by) }
  const metadata: Metadata = {
    input: input && inputMetadata(checked('input', input.whole), inputOptions),
    pull: pull && pullMetadata(checked('pull', pull.whole), inputOptions),
    output: output && outputMetadata(checked('output', output.whole), { credentialGiven }),
    warnings: warnings(given, sides, pulls ? 'pull' : 'push'),
  }
  return { metadata, issues: [] }
}

type Texts = Partial<Record<FieldName, string>>

function readSides({ fields }: GivenFields): { sides: ReadonlySet<Side>; issues: MetadataIssue[] } {
  const direction = fields.get('direction')?.text
  const byPresence = configuredSides([...fields.keys()], fields.get('topicAuthentication')?.text)
  if (direction !== undefined) {
    const sides = parseDirection(direction)
    if (sides) return { sides, issues: [] }
    const rule = 'must be "input", "output" or "input, output"'
    return { sides: byPresence, issues: [{ field: 'direction', rule }] }
  }
  if (byPresence.size > 0) return { sides: byPresence, issues: [] }
  const names = (side: Side) => Array.from(requiredOf(side), ({ field }) => field).join(', ')
  const fix = `set ${names('input')} for the input side, ${names('output')} for the output side, or both`
  return { sides: byPresence, issues: [{ rule: 'configures neither the input nor the output side', fix }] }
}

/** Why a side counts as configured, where a single field of it says so: it may stand there by mistake. */
function reasonOf(side: Side, { fields }: GivenFields): string | undefined {
  if (fields.has('direction')) return undefined
  const [only, another] = ownFields(side, [...fields.keys()], fields.get('topicAuthentication')?.text)
  if (only === undefined || another !== undefined) return undefined
  return `the ${side} side is configured because ${fields.get(only)?.spelled} is set`
}

function withDefaults({ fields }: GivenFields): Texts {
  const texts: Texts = {}
  for (const { name, default: standIn } of metadataFields) {
    const text = fields.has(name) ? fields.get(name)?.text : standIn
    if (text !== undefined) texts[name] = text
  }
  return texts
}

/** A side's values: whole where no field has a fault, and those that have none. */
function judge<Shape extends z.core.$ZodLooseShape>(
  schema: z.ZodObject<Shape>,
  texts: Texts,
  names: readonly FieldName[],
) {
  const given = Object.entries(texts).filter(([name]) => names.some((known) => known === name))
  const parsed = schema.safeParse(Object.fromEntries(given))
  const faults = Map.groupBy(parsed.error?.issues ?? [], ({ path }) => String(path[0]))
  return {
    whole: parsed.data,
    partly: schema.partial().parse(Object.fromEntries(given.filter(([name]) => !faults.has(name)))),
    // A field that is not there is the business of `missingFields`, which knows when it need not be.
    issues: given.flatMap(([name]) => (faults.get(name) ?? []).map((issue) => brokenRule(name, issue))),
  }
}

function brokenRule(field: string, issue: z.core.$ZodIssue): MetadataIssue {
  const fix: unknown = issue.code === 'custom' ? issue.params?.fix : undefined
  return { field, rule: issue.message, ...(typeof fix === 'string' && { fix }) }
}

/** An issue together with what was written, where, and for a missing field the name that may be a slip for it. */
function withValue(issue: MetadataIssue, { fields, unknown }: GivenFields): MetadataIssue {
  const field = issue.field === undefined ? undefined : findField(issue.field)?.name
  if (!field) return issue
  const given = fields.get(field)
  if (given) return { value: given.shown, ...(given.at !== undefined && { at: given.at }), ...issue }
  const slip = unknown.find(({ meant }) => meant === field)
  return slip && !issue.fix ? { ...issue, fix: `is ${slip.issue.field} meant for it?` } : issue
}

/** Does a fault of reading concern what is configured? One of no known field, and one of `direction`, always does. */
function belongsTo(name: string | undefined, read: readonly FieldName[]): boolean {
  const field = name === undefined ? undefined : findField(name)?.name
  return field === undefined || field === 'direction' || read.includes(field)
}

/** The sides share fields, whose faults both report. */
function unique(issues: readonly MetadataIssue[]): readonly MetadataIssue[] {
  return [...new Map(issues.map((issue) => [`${issue.field} ${issue.rule} ${issue.at}`, issue])).values()]
}

function inTableOrder(issues: readonly MetadataIssue[]): readonly MetadataIssue[] {
  const order = (name: string | undefined) => metadataFields.findIndex((field) => field.name === name)
  return issues.toSorted((one, other) => order(one.field) - order(other.field))
}

/** Faults between values that have none alone. */
function outputConflicts({
  topicAuthentication,
  topicEndpoint = '',
  topicSchema,
}: Partly<OutputValues>): readonly MetadataIssue[] {
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

function outputMetadata(values: OutputValues, options: { readonly credentialGiven: boolean }): OutputMetadata {
  return {
    topicEndpoint: values.topicEndpoint,
    authentication:
      values.topicAuthentication === 'entra'
        ? { kind: 'entra', credential: credentialMetadata(values, options) }
        : { kind: 'accessKey', accessKey: checked('accessKey', values.accessKey) },
    environment: values.azureEnvironment,
    topicSchema: isNamespaceTopic(values.topicEndpoint) ? 'CloudEventSchemaV1_0' : values.topicSchema,
    publishTimeoutMs: values.publishTimeout,
  }
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

function warnings(given: GivenFields, sides: ReadonlySet<Side>, mode: 'push' | 'pull'): readonly string[] {
  const { fields, unknown } = given
  const found = unknown.map(({ issue }) => describeIssue(issue))
  const subscription = fields.get('subscriptionId')
  if (sides.has('input')) found.push(...unusedFields(given, mode))
  if (sides.has('input') && subscription?.text && !uuid.test(subscription.text)) {
    found.push(`subscriptionId is not a UUID (got ${subscription.shown}), as the ids of Azure subscriptions are`)
  }
  return found
}
