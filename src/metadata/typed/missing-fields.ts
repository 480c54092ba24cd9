/** Which required fields are missing, and what to write, or to set in place of them. */

import type { Side } from '../../core/component.ts'
import type { MetadataIssue } from '../../core/errors.ts'
import { entryToWrite, metadataFields } from '../fields/find-field.ts'
import type { Circumstances, Reader } from '../fields/needs.ts'
import { ownFields } from './configured-sides.ts'
import type { GivenFields } from './read-properties.ts'

/** A sidecar gives an empty text for a secret that its store does not have. */
type ResolvedBy = 'us' | 'sidecar' | undefined

/** A fault for each required field that is not there. */
export function missingFields(
  configured: readonly Reader[],
  by: Circumstances,
  given: GivenFields,
  /** Has the output side no other fault? */
  { resolvedBy, isOutputSound }: { readonly resolvedBy?: ResolvedBy; readonly isOutputSound: boolean },
): readonly MetadataIssue[] {
  const missing = configured.map((reader) => ({ reader, issues: missingFor(reader, by, given, resolvedBy) }))
  const issues = missing.flatMap((one) => one.issues)
  const [input, output] = missing
  if (issues.length === 0) return []
  const isOutputAlone = isOutputSound && !given.fields.has('direction') && output?.issues.length === 0
  const wayOut = isOutputAlone && input && input.issues.length > 0 ? [onlyToPublish] : []
  const reported = new Set(issues.map(({ field }) => field))
  const isMeant = ({ name, secret, readers }: EmptyField) =>
    resolvedBy === 'sidecar' && secret && !reported.has(name) && configured.some((reader) => readers.includes(reader))
  return [...issues, ...emptyFields(given, resolvedBy, isMeant), ...wayOut]
}

/** Faults where no side is configured. */
export function neitherSide(given: GivenFields, resolvedBy: ResolvedBy): readonly MetadataIssue[] {
  return [nothingConfigured, ...emptyFields(given, resolvedBy, ({ secret, required }) => secret || required)]
}

type EmptyField = (typeof metadataFields)[number]

/** A field that is there without a value may be why others are asked for. */
function emptyFields({ empty }: GivenFields, resolvedBy: ResolvedBy, isMeant: (field: EmptyField) => boolean) {
  const meant = metadataFields.filter((field) => empty.has(field.name) && isMeant(field))
  return meant.map((field): MetadataIssue => {
    const fix = fillIn(`write ${entryToWrite(field)}`, resolvedBy)
    return { field: field.name, rule: 'counts as absent', fix }
  })
}

const fillIn = (write: string, resolvedBy: ResolvedBy) =>
  resolvedBy === 'sidecar' ? fromSidecar : `its value is empty: ${write}`

function missingFor(reader: Reader, by: Circumstances, given: GivenFields, resolvedBy: ResolvedBy) {
  const { fields, unknown, empty } = given
  const because = reasonOf(reader === 'output' ? 'output' : 'input', given)
  const issues = metadataFields.flatMap((field): MetadataIssue[] => {
    const { name, needed } = field
    const need = by.has(name) ? undefined : needed(by, reader)
    if (!need) return []
    const slip = unknown.find(({ meant }) => meant === name)
    const write = `write ${entryToWrite(field)}${need.or === undefined ? '' : `, or ${need.or}`}`
    let fix = `${write}${because}`
    if (slip) fix = `is ${slip.issue.field} meant for it?`
    else if (empty.has(name)) fix = fillIn(write, resolvedBy)
    return [{ field: name, rule: `is required ${need.why}`, fix }]
  })
  // Pull was meant, because push does not have all its fields. Faults about these would hide the one that matters.
  const isPullMeant = reader === 'push' && fields.has('namespaceTopic') && !fields.has('deliveryMode')
  return isPullMeant && issues.length > 0 ? [pullNotChosen, ...issues.filter(isOfDeadLetters)] : issues
}

const fromSidecar =
  "its value came empty; if it is a secretKeyRef, the sidecar's secret store gave nothing for it: give the component a store " +
  'that has it, by auth: { secretStore: NAME } beside spec, and see the log of daprd'

const pullNotChosen = {
  field: 'deliveryMode',
  rule: 'must be pull where namespaceTopic is given',
  fix: 'write { name: deliveryMode, value: pull }',
} satisfies MetadataIssue

const isOfDeadLetters = ({ field }: MetadataIssue) => field?.startsWith('deadLetter')

const onlyToPublish = {
  field: 'direction',
  rule: 'is not given, so the input side has to be whole too',
  fix: 'to publish only, set direction: output, as { name: direction, value: output }',
} satisfies MetadataIssue

/** Why a side counts as configured, where a single field of it says so: it may stand there by mistake. */
function reasonOf(side: Side, given: GivenFields): string {
  const [only, another] = given.fields.has('direction') ? [] : ownFields(side, given)
  if (only === undefined || another !== undefined) return ''
  return ` (the ${side} side is configured because ${given.fields.get(only)?.spelled} is set)`
}

const namesOf = (side: Side) =>
  metadataFields.flatMap(({ name, required, sides }) => (required && sides.includes(side) ? name : [])).join(', ')

const nothingConfigured: MetadataIssue = {
  rule: 'configures neither the input nor the output side',
  fix: `set ${namesOf('input')} for the input side, ${namesOf('output')} for the output side, or both`,
}
