// Whether an event matches a filter: subject, `includedEventTypes`, advanced operators, arrays, letter case.
import type { AdvancedFilter, StringOperator, SubscriptionFilter } from '../resources/event-subscription.ts'
import { type AcceptedEvent, eventSubject, eventType, mappedEvent } from './accepted-event.ts'
import { type EventText, fieldAt, spelledPath } from './event-text.ts'

/** Judges a value; undefined for a missing value, also null, and for a type that the operator does not support. */
type Judge = (value: unknown) => boolean | undefined

/** The operators that match an event without a value to judge. */
const matchMissing: ReadonlySet<string> = new Set(['NumberNotIn', 'StringNotIn'])

/** Makes the function that tests whether an event matches the filter. */
export function compileFilter(filter: SubscriptionFilter | undefined): (event: AcceptedEvent) => boolean {
  const types = filter?.includedEventTypes
  const wanted = types && types.length > 0 && !types.includes('All') ? new Set(types) : undefined
  const fold = filter?.isSubjectCaseSensitive ? (text: string) => text : (text: string) => text.toLowerCase()
  const begin = fold(filter?.subjectBeginsWith ?? '')
  const end = fold(filter?.subjectEndsWith ?? '')
  const arrays = filter?.enableAdvancedFilteringOnArrays ?? false
  const advanced = (filter?.advancedFilters ?? []).map((one) => compileAdvanced(one, arrays))
  return (event) => {
    if (wanted && !wanted.has(eventType(event))) return false
    if (begin || end) {
      const subject = fold(eventSubject(event))
      if (!subject.startsWith(begin) || !subject.endsWith(end)) return false
    }
    return advanced.every((matches) => matches(event))
  }
}

function compileAdvanced(filter: AdvancedFilter, arrays: boolean): (event: AcceptedEvent) => boolean {
  const { operatorType, key } = filter
  const path = key.split('.')
  const judge = judgeOf(filter)
  const negated = /^(Number|String)Not/.test(operatorType)
  // The elements of an array are judged if the subscription enables it. The two tests for null judge the array itself.
  const elementwise = arrays && !operatorType.startsWith('Is')
  return (event) => {
    const place = filteredPlace(event, path)
    const value = place && fieldAt(place.event.value, place.path)
    if (Array.isArray(value) && elementwise) return value.some((element) => judge(element) === true) !== negated
    const verdict = judge(value)
    return verdict === undefined ? matchMissing.has(operatorType) : verdict !== negated
  }
}

/** The judgement of an operator, without the `Not` in its name. */
function judgeOf(filter: AdvancedFilter): Judge {
  switch (filter.operatorType) {
    case 'IsNullOrUndefined':
      return (value) => value === null || value === undefined
    case 'IsNotNull':
      return (value) => value !== null && value !== undefined
    case 'BoolEquals':
      return (value) => (typeof value === 'boolean' ? value === filter.value : undefined)
    case 'NumberLessThan':
      return ofNumbers((value) => value < filter.value)
    case 'NumberGreaterThan':
      return ofNumbers((value) => value > filter.value)
    case 'NumberLessThanOrEquals':
      return ofNumbers((value) => value <= filter.value)
    case 'NumberGreaterThanOrEquals':
      return ofNumbers((value) => value >= filter.value)
    case 'NumberIn':
    case 'NumberNotIn':
      return ofNumbers((value) => filter.values.includes(value))
    case 'NumberInRange':
    case 'NumberNotInRange':
      return ofNumbers((value) => filter.values.some(([low, high]) => value >= low && value <= high))
    default:
      return ofStrings(filter.operatorType, filter.values)
  }
}

function ofNumbers(matches: (value: number) => boolean): Judge {
  return (value) => (typeof value === 'number' ? matches(value) : undefined)
}

function ofStrings(operator: StringOperator, values: readonly string[]): Judge {
  const wanted = values.map((value) => value.toLowerCase())
  const compare = operator.endsWith('BeginsWith')
    ? (text: string, value: string) => text.startsWith(value)
    : operator.endsWith('EndsWith')
      ? (text: string, value: string) => text.endsWith(value)
      : operator.endsWith('Contains')
        ? (text: string, value: string) => text.includes(value)
        : (text: string, value: string) => text === value
  return (value) => {
    if (typeof value !== 'string') return undefined
    const text = value.toLowerCase()
    return wanted.some((one) => compare(text, one))
  }
}

// The five that Event Grid spells with a capital, and its own samples in every way.
const eventGridKeys: Readonly<Record<string, string>> = {
  id: 'id',
  topic: 'topic',
  subject: 'subject',
  eventtype: 'eventType',
  dataversion: 'dataVersion',
  data: 'data',
}

/** Where the field is that a filter's key names, in the schema the event was published in. */
export function filteredPlace(event: AcceptedEvent, path: readonly string[]): Place | undefined {
  // What a publisher sends in a schema of its own has names of its own.
  const place = placeByKey(event, event.schema === 'CustomEventSchema' ? spelledPath(event.body.value, path) : path)
  return place && { ...place, path: spelledPath(place.event.value, place.path) }
}

/** The same, in the key's own letter case. */
export function placeByKey(event: AcceptedEvent, path: readonly string[]): Place | undefined {
  if (event.schema === 'CloudEventSchemaV1_0') return { event: event.body, path }
  const [head = '', ...rest] = path
  const known = eventGridKeys[head.toLowerCase()]
  const mapped = known === undefined ? undefined : { event: mappedEvent(event), path: [known, ...rest] }
  if (event.schema === 'EventGridSchema') return mapped
  return fieldAt(event.body.value, path) === undefined ? mapped : { event: event.body, path }
}

interface Place {
  readonly event: EventText
  readonly path: readonly string[]
}
