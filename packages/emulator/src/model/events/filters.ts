// Whether an event matches a filter: subject, `includedEventTypes`, advanced operators, arrays, letter case.
import { cut } from '../../../../../src/support/text/text.ts'
import type {
  AdvancedFilter,
  EventSubscription,
  StringOperator,
  SubscriptionFilter,
} from '../resources/event-subscription.ts'
import type { Store } from '../resources/store.ts'
import { topicTypeAt } from '../resources/topic-types.ts'
import { type AcceptedEvent, eventSubject, eventType, mappedEvent } from './accepted-event.ts'
import { type EventText, fieldAt, spelledPath } from './event-text.ts'

/** Judges a value; undefined for a missing value, also null, and for a type that the operator does not support. */
type Judge = (value: unknown) => boolean | undefined

/** The operators that match an event without a value to judge. */
const matchMissing: ReadonlySet<string> = new Set(['NumberNotIn', 'StringNotIn'])

/** Says why an event does not match a filter; undefined where the event does. */
export type Mismatch = (event: AcceptedEvent) => string | undefined

/**
 * Makes the function that tests whether an event matches the filter.
 *
 * @param byDefault the event types where the filter names none. @default all
 */
export function compileFilter(filter: SubscriptionFilter | undefined, byDefault?: readonly string[]): Mismatch {
  const named = filter?.includedEventTypes ?? []
  const types = named.length > 0 ? named : byDefault
  const wanted = types && !types.includes('All') ? new Set(types) : undefined
  const defaultSet =
    named.length > 0
      ? ''
      : `, which includedEventTypes must name: by default the source sends ${shortened(types?.join(', ') ?? '')}`
  const isCaseSensitive = filter?.isSubjectCaseSensitive ?? false
  const fold = isCaseSensitive ? (text: string) => text : (text: string) => text.toLowerCase()
  const { subjectBeginsWith = '', subjectEndsWith = '' } = filter ?? {}
  const [begin, end] = [fold(subjectBeginsWith), fold(subjectEndsWith)]
  const arrays = filter?.enableAdvancedFilteringOnArrays ?? false
  const advanced = (filter?.advancedFilters ?? []).map((one) => compileAdvanced(one, arrays))
  return (event) => {
    if (wanted && !wanted.has(eventType(event)))
      return `the event has the type ${shortened(eventType(event))}${defaultSet}`
    if (begin || end) {
      const subject = fold(eventSubject(event))
      if (!subject.startsWith(begin)) return subjectMismatch(event, `begin with ${shortened(subjectBeginsWith)}`)
      if (!subject.endsWith(end)) return subjectMismatch(event, `end with ${shortened(subjectEndsWith)}`)
    }
    for (const mismatch of advanced) {
      const because = mismatch(event)
      if (because !== undefined) return because
    }
    return undefined
  }
}

const compiled = new WeakMap<object, Mismatch>()

/** The same for an event subscription, made once for its settings. */
export function filterOf(
  store: Store,
  { scope, properties }: Pick<EventSubscription, 'scope' | 'properties'>,
): Mismatch {
  const filter = compiled.get(properties) ?? compileFilter(properties.filter, topicTypeAt(store, scope)?.byDefault)
  compiled.set(properties, filter)
  return filter
}

const subjectMismatch = (event: AcceptedEvent, what: string) =>
  `the event has the subject ${JSON.stringify(shortened(eventSubject(event)))}, which does not ${what}`

function compileAdvanced(filter: AdvancedFilter, arrays: boolean): Mismatch {
  const { operatorType, key } = filter
  const path = key.split('.')
  const judge = judgeOf(filter)
  const negated = /^(Number|String)Not/.test(operatorType)
  // The elements of an array are judged if the subscription enables it. The two tests for null judge the array itself.
  const elementwise = arrays && !operatorType.startsWith('Is')
  const unless = (matches: boolean, value: unknown) =>
    matches ? undefined : mismatchWords(filter, value, Array.isArray(value) && !elementwise)
  return (event) => {
    const place = filteredPlace(event, path)
    const value = place && fieldAt(place.event.value, place.path)
    if (Array.isArray(value) && elementwise) {
      return unless(value.some((element) => judge(element) === true) !== negated, value)
    }
    const verdict = judge(value)
    return unless(verdict === undefined ? matchMissing.has(operatorType) : verdict !== negated, value)
  }
}

/** As in `the event has no key data.amount`. */
function mismatchWords({ key, operatorType }: AdvancedFilter, value: unknown, isWholeArray: boolean): string {
  if (value === undefined) return `the event has no key ${shortened(key)}`
  const hint = isWholeArray ? ', whose elements count with enableAdvancedFilteringOnArrays alone' : ''
  return `${shortened(key)} of the event is ${valueWords(value)}${hint}: ${operatorType} does not match`
}

function valueWords(value: unknown): string {
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'string') return JSON.stringify(shortened(value))
  return typeof value === 'object' && value !== null ? 'an object' : String(value)
}

const shortened = (text: string) => cut(text, 100)

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
