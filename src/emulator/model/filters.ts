import { type AcceptedEvent, eventSubject, eventType } from './accepted-event.ts'
import { fieldAt } from './json-object.ts'
import type { AdvancedFilter, StringOperator, SubscriptionFilter } from './model.ts'

type Test = (value: unknown) => boolean

/**
 * How a filter judges a value, and a missing value (also null, or of a type that the operator does not support).
 */
interface Judge {
  /** Whether the value has a type that the operator supports. */
  readonly applies: Test
  readonly matches: Test
  /** A `Not` operator: an array passes if no element matches. */
  readonly negated: boolean
  /** Tests the elements of an array if the subscription enables it. */
  readonly elementwise: boolean
  /** The verdict for a missing key. */
  readonly missing: boolean
}

/**
 * Makes the function that tests whether an event matches the filter.
 */
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
  const path = filter.key.split('.')
  const judge = judgeOf(filter)
  return (event) => {
    const value = filteredField(event, path)
    if (Array.isArray(value) && arrays && judge.elementwise) {
      const hit = value.some((element) => judge.applies(element) && judge.matches(element))
      return judge.negated ? !hit : hit
    }
    return judge.applies(value) ? judge.matches(value) !== judge.negated : judge.missing
  }
}

const isNumber: Test = (value) => typeof value === 'number'
const isString: Test = (value) => typeof value === 'string'

const isNull: Test = (value) => value === null || value === undefined

function judgeOf(filter: AdvancedFilter): Judge {
  const number = (matches: (value: number) => boolean, negated: boolean, missing: boolean): Judge => ({
    applies: isNumber,
    matches: (value) => typeof value === 'number' && matches(value),
    negated,
    elementwise: true,
    missing,
  })
  switch (filter.operatorType) {
    case 'IsNullOrUndefined':
      return { applies: () => true, matches: isNull, negated: false, elementwise: false, missing: true }
    case 'IsNotNull':
      return {
        applies: () => true,
        matches: (value) => !isNull(value),
        negated: false,
        elementwise: false,
        missing: false,
      }
    case 'BoolEquals':
      return {
        applies: (value) => typeof value === 'boolean',
        matches: (value) => value === filter.value,
        negated: false,
        elementwise: true,
        missing: false,
      }
    case 'NumberLessThan':
      return number((value) => value < filter.value, false, false)
    case 'NumberGreaterThan':
      return number((value) => value > filter.value, false, false)
    case 'NumberLessThanOrEquals':
      return number((value) => value <= filter.value, false, false)
    case 'NumberGreaterThanOrEquals':
      return number((value) => value >= filter.value, false, false)
    case 'NumberIn':
    case 'NumberNotIn':
      return number(
        (value) => filter.values.includes(value),
        filter.operatorType === 'NumberNotIn',
        filter.operatorType === 'NumberNotIn',
      )
    case 'NumberInRange':
    case 'NumberNotInRange':
      return number(
        (value) => filter.values.some(([low, high]) => value >= low && value <= high),
        filter.operatorType === 'NumberNotInRange',
        false,
      )
    default:
      return stringJudge(filter.operatorType, filter.values)
  }
}

function stringJudge(operator: StringOperator, values: readonly string[]): Judge {
  const wanted = values.map((value) => value.toLowerCase())
  const compare = operator.endsWith('BeginsWith')
    ? (text: string, value: string) => text.startsWith(value)
    : operator.endsWith('EndsWith')
      ? (text: string, value: string) => text.endsWith(value)
      : operator.endsWith('Contains')
        ? (text: string, value: string) => text.includes(value)
        : (text: string, value: string) => text === value
  return {
    applies: isString,
    matches: (value) => {
      const text = String(value).toLowerCase()
      return wanted.some((one) => compare(text, one))
    },
    negated: operator.startsWith('StringNot'),
    elementwise: true,
    missing: operator === 'StringNotIn',
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

/** The field that a filter's key names, in the schema the event was published in. */
export function filteredField(event: AcceptedEvent, path: readonly string[]): unknown {
  if (event.schema === 'CloudEventSchemaV1_0') return fieldAt(event.body, path)
  const [head = '', ...rest] = path
  const known = eventGridKeys[head.toLowerCase()]
  if (event.schema === 'EventGridSchema') return known && fieldAt(event.body, [known, ...rest])
  return fieldAt(event.body, path) ?? (known && fieldAt(event.mapped, [known, ...rest]))
}
