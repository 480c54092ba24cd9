/** The check `filters/event`: does a sample event pass the filters, operator by operator? */

import { schemaOf } from '../../../core/event.ts'
import { readSubscriptionProperties, type SubscriptionProperties } from '../../../provision/values.ts'
import { isRecord, type UnknownRecord } from '../../../support/text/json-text.ts'
import { quote } from '../../../support/text/text.ts'
import type { InputContext } from '../context/side-context.ts'
import { type Finding, failed, joined, ok } from '../finding.ts'

export interface SampleEvent {
  readonly name: string
  readonly event: UnknownRecord
}

export async function checkSamples(context: InputContext, samples: readonly SampleEvent[]): Promise<Finding> {
  // Other checks report why Azure cannot be asked.
  const existing = context.surroundings.offline ? 'unknown' : await context.existing().catch(() => 'unknown' as const)
  const known = existing === 'unknown' ? undefined : existing
  const written = readSubscriptionProperties({ properties: context.wanted().merge(known ?? {}, { resets: 'apply' }) })
  const wanted = ('properties' in written && written.properties.filter) || {}
  const provisioned = known?.filter
  let aside = ''
  if (existing === 'unknown') aside = '; the filters in Azure are not known'
  else if (!provisioned) aside = '; Azure has no event subscription yet'
  return joined(
    samples.flatMap(({ name, event }) => [
      filterFinding(`${name}: the filters that init would leave`, event, wanted, aside),
      ...(provisioned ? [filterFinding(`${name}: the filters in Azure`, event, provisioned, '')] : []),
    ]),
  )
}

function filterFinding(what: string, event: UnknownRecord, filter: EventFilter, aside: string): Finding {
  const reasons = refusals(event, filter)
  const cases = caseDifferences(event, filter)
  const alike =
    cases.length > 0 ? `; ${cases.join('; ')}: Event Grid is believed to ignore it, write it as the event does` : ''
  if (reasons.length === 0) return ok(`${what} let it pass${aside}${alike}`)
  const remedy =
    'change the filter in the metadata (the value default takes one away) and start the binding again, or correct the event'
  const lines = [`${what} refuse it${aside}:`, ...[...reasons, ...cases].map((reason) => `  ${reason}`)]
  return failed(lines.join('\n'), { remedy })
}

export type EventFilter = NonNullable<SubscriptionProperties['filter']>

type FilterCondition = NonNullable<EventFilter['advancedFilters']>[number]

/** The conditions that refuse an event, a sentence each. Empty: the event passes. */
export function refusals(event: UnknownRecord, filter: EventFilter): readonly string[] {
  return [...typeRefusals(event, filter), ...subjectRefusals(event, filter), ...advancedRefusals(event, filter)]
}

export function isEvent(value: unknown): value is UnknownRecord {
  return isRecord(value) && ['type', 'eventType'].some((name) => typeof value[name] === 'string')
}

const isCloudEvent = (event: UnknownRecord) => schemaOf(event) === 'CloudEventSchemaV1_0'

function typeRefusals(event: UnknownRecord, { includedEventTypes }: EventFilter): readonly string[] {
  const wanted = includedEventTypes ?? []
  const type = String(isCloudEvent(event) ? event.type : event.eventType)
  if (wanted.length === 0 || wanted.includes('All') || wanted.includes(type)) return []
  const near = wanted.find((one) => one.toLowerCase() === type.toLowerCase())
  const hint = near === undefined ? '' : `; ${quote(near)} differs in letter case`
  return [`includedEventTypes holds ${wanted.map(quote).join(', ')}, and the event is a ${quote(type)}${hint}`]
}

function subjectRefusals(event: UnknownRecord, filter: EventFilter): readonly string[] {
  const { subjectBeginsWith: begin = '', subjectEndsWith: end = '', isSubjectCaseSensitive = false } = filter
  const fold = (text: string) => (isSubjectCaseSensitive ? text : text.toLowerCase())
  const subject = typeof event.subject === 'string' ? event.subject : ''
  const actual = subject === '' ? 'the event has no subject' : `the subject is ${quote(subject)}`
  const blobs =
    /\/containers\/[^/]+$/.test(begin) || !/\/containers\/[^/]+\/(?!blobs)/.test(begin)
      ? ''
      : '; a blob lies under /containers/{container}/blobs/'
  return [
    ...(fold(subject).startsWith(fold(begin)) ? [] : [`subjectBeginsWith is ${quote(begin)}, and ${actual}${blobs}`]),
    ...(fold(subject).endsWith(fold(end)) ? [] : [`subjectEndsWith is ${quote(end)}, and ${actual}`]),
  ]
}

function advancedRefusals(event: UnknownRecord, filter: EventFilter): readonly string[] {
  const { advancedFilters = [], enableAdvancedFilteringOnArrays: arrays = false } = filter
  return advancedFilters.flatMap((condition) => {
    const { operatorType = 'a filter', key = '' } = condition
    const { value: field } = fieldOf(event, key)
    if (passes(condition, field, arrays)) return []
    const operand = condition.values ?? condition.value
    const wanted = operand === undefined ? '' : ` ${JSON.stringify(operand).slice(0, 200)}`
    return [`advancedFilters: ${operatorType}${wanted} on ${quote(key)}, and ${describeField(field, arrays)}`]
  })
}

function describeField(field: unknown, arrays: boolean): string {
  if (field === undefined) return 'the event has no such field'
  const shown = `its value is ${(JSON.stringify(field) ?? String(field)).slice(0, 200)}`
  return Array.isArray(field) && !arrays
    ? `${shown}, a list, into which enableAdvancedFilteringOnArrays is needed to look`
    : shown
}

/**
 * What a key leads to: the value, and the event's names on the way. A dot goes one level down. Names match in any letter case, as
 * published templates that work need it: no page of Event Grid says so. Of two names that differ in case only, the one that is written
 * as in the key counts.
 */
function fieldOf(event: UnknownRecord, key: string) {
  let value: unknown = event
  const names: string[] = []
  for (const part of key.split('.')) {
    const holder: UnknownRecord = isRecord(value) ? value : {}
    const name = nameIn(holder, part)
    value = name === undefined ? undefined : holder[name]
    names.push(name ?? part)
  }
  return { value, name: names.join('.') }
}

function nameIn(holder: UnknownRecord, part: string): string | undefined {
  if (Object.hasOwn(holder, part)) return part
  return Object.keys(holder).find((one) => one.toLowerCase() === part.toLowerCase())
}

/** The keys of a filter that are written in another letter case than in the event, a sentence each. */
export function caseDifferences(event: UnknownRecord, { advancedFilters = [] }: EventFilter): readonly string[] {
  // The Event Grid schema has capitals of its own in keys: Subject, EventType.
  const isKnown = (key: string) => !isCloudEvent(event) && !key.includes('.')
  const keys = [...new Set(advancedFilters.map(({ key = '' }) => key))]
  return keys.flatMap((key) => {
    const { value, name } = fieldOf(event, key)
    if (value === undefined || name === key || isKnown(key)) return []
    return [`the key ${quote(key)} of advancedFilters differs in letter case from the event's ${quote(name)}`]
  })
}

type Test = (value: unknown) => boolean

/** The test of an operator on a single value, without its `Not`. */
function testOf({ operatorType = '', value, values: given }: FilterCondition): Test | undefined {
  const values: readonly unknown[] = Array.isArray(given) ? given : []
  const numbers =
    (test: (given: number) => boolean): Test =>
    (given) =>
      typeof given === 'number' && test(given)
  const texts =
    (test: (given: string, wanted: string) => boolean): Test =>
    (given) =>
      typeof given === 'string' && values.some((wanted) => test(given.toLowerCase(), String(wanted).toLowerCase()))
  const inRange = (given: number) =>
    values.some((range) => Array.isArray(range) && given >= Number(range[0]) && given <= Number(range[1]))
  const tests = new Map<string, Test>([
    ['NumberIn', numbers((given) => values.includes(given))],
    ['NumberInRange', numbers(inRange)],
    ['NumberLessThan', numbers((given) => given < Number(value))],
    ['NumberGreaterThan', numbers((given) => given > Number(value))],
    ['NumberLessThanOrEquals', numbers((given) => given <= Number(value))],
    ['NumberGreaterThanOrEquals', numbers((given) => given >= Number(value))],
    ['BoolEquals', (given) => given === value],
    ['StringIn', texts((given, wanted) => given === wanted)],
    ['StringBeginsWith', texts((given, wanted) => given.startsWith(wanted))],
    ['StringEndsWith', texts((given, wanted) => given.endsWith(wanted))],
    ['StringContains', texts((given, wanted) => given.includes(wanted))],
  ])
  return tests.get(operatorType.replace('Not', ''))
}

/** The only `Not` operators that a missing field passes (Event Grid: event-filtering). */
const passWhereMissing: ReadonlySet<string> = new Set(['NumberNotIn', 'StringNotIn'])

/** The type of the values that an operator is for, by how its name begins. */
const comparedTypes = Object.entries({ String: 'string', Bool: 'boolean', Number: 'number' })

function passes(condition: FilterCondition, field: unknown, arrays: boolean): boolean {
  const { operatorType = '' } = condition
  const isMissing = field === undefined || field === null
  if (operatorType === 'IsNullOrUndefined') return isMissing
  if (operatorType === 'IsNotNull') return !isMissing
  const test = testOf(condition)
  // Event Grid may know an operator that we do not.
  if (!test) return true
  const isNegated = operatorType.includes('Not')
  if (Array.isArray(field) && arrays) return field.some(test) !== isNegated
  const isComparable = comparedTypes.some(([kind, type]) => operatorType.startsWith(kind) && typeof field === type)
  return isComparable ? test(field) !== isNegated : passWhereMissing.has(operatorType)
}
