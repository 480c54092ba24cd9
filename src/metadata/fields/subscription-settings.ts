/** The fields that are settings of the event subscription: filters with their operators and bounds, attempts, dead letters, labels. */
import { z } from 'zod'
import { isRecord, readJson } from '../../support/text/json-text.ts'
import { didYouMean } from '../../support/text/nearest-name.ts'
import { oneLine } from '../../support/text/text.ts'
import { BrokenRule } from './faults.ts'
import { setting } from './field.ts'
import { beside } from './needs.ts'
import * as rules from './rules.ts'

export const settingFields = {
  includedEventTypes: setting({ ...rules.list, about: 'Event types to deliver.' }),
  subjectBeginsWith: setting({
    ...rules.anyText,
    about: 'Deliver only events with a subject that begins with this text.',
  }),
  subjectEndsWith: setting({ ...rules.anyText, about: 'Deliver only events with a subject that ends with this text.' }),
  advancedFilters: setting({
    type: 'JSON array of `{ operatorType, key, value or values }`; at most 25 filters and 25 values',
    about: "Advanced filters, in ARM's spelling.",
    parse: parseAdvancedFilters,
  }),
  maxDeliveryAttempts: setting({
    type: 'integer, 1-30; with `deliveryMode: pull` 1-10',
    stricter: { pull: rules.unlessDefault(rules.integer(1, 10).parse) },
    about: 'How often Event Grid tries to deliver an event.',
    parse: rules.integer(1, 30).parse,
  }),
  eventTimeToLive: setting({
    type: 'duration in whole minutes, 1m-24h',
    about: 'How long Event Grid tries to deliver an event.',
    parse: rules.parseTimeToLive,
  }),
  maxEventsPerBatch: setting({
    ...rules.integer(1, 5000),
    stricter: { pull: rules.refusedByPull },
    about: 'Most events in one delivery.',
  }),
  preferredBatchSizeInKilobytes: setting({
    ...rules.integer(1, 1024),
    stricter: { pull: rules.refusedByPull },
    about: 'Preferred size of a delivery.',
  }),
  deadLetterStorageAccountId: setting({
    needed: beside('deadLetterContainer'),
    type: 'resource id of a storage account',
    example: '/subscriptions/SUBSCRIPTION/resourceGroups/GROUP/providers/Microsoft.Storage/storageAccounts/ACCOUNT',
    about: 'Where undeliverable events go. Needs `deadLetterContainer`.',
    parse: rules.parseStorageAccount,
  }),
  deadLetterContainer: setting({
    needed: beside('deadLetterStorageAccountId'),
    type: 'name of a blob container',
    example: 'dead-letters',
    about: 'Container for undeliverable events. Needs `deadLetterStorageAccountId`.',
    parse: rules.parseContainerName,
  }),
  labels: setting({
    ...rules.list,
    stricter: { pull: rules.refusedByPull },
    about: 'Labels of the event subscription.',
  }),
}

/** One advanced filter, in ARM's own spelling (Event Grid: event-filtering). */
export interface AdvancedFilter {
  readonly operatorType: string
  readonly key: string
  readonly value?: number | boolean
  readonly values?: readonly (string | number | readonly [number, number])[]
}

/** Event Grid's limits of one event subscription (Event Grid: event-filtering, limitations). */
const maxFilters = 25
const maxValues = 25
const maxTextLength = 512

const text = z.string().max(maxTextLength)
const key = text.min(1)
const values = <T extends z.ZodType>(item: T) => ({ values: z.array(item).min(1).max(maxValues) })
const range = z
  .tuple([z.number(), z.number()])
  .refine(([low, high]) => low <= high, 'must be [low, high] with low not above high')

const operands = {
  NumberIn: () => values(z.number()),
  NumberNotIn: () => values(z.number()),
  NumberInRange: () => values(range),
  NumberNotInRange: () => values(range),
  NumberLessThan: () => ({ value: z.number() }),
  NumberLessThanOrEquals: () => ({ value: z.number() }),
  NumberGreaterThan: () => ({ value: z.number() }),
  NumberGreaterThanOrEquals: () => ({ value: z.number() }),
  BoolEquals: () => ({ value: z.boolean() }),
  StringIn: () => values(text),
  StringNotIn: () => values(text),
  StringBeginsWith: () => values(text),
  StringNotBeginsWith: () => values(text),
  StringEndsWith: () => values(text),
  StringNotEndsWith: () => values(text),
  StringContains: () => values(text),
  StringNotContains: () => values(text),
  IsNullOrUndefined: () => ({}),
  IsNotNull: () => ({}),
} satisfies Record<string, () => z.core.$ZodLooseShape>

/** The operators as ARM spells them. */
const filterOperators: readonly string[] = Object.keys(operands)

/** Made when a filter needs it: all of them take 5 ms, and most components have none. */
const filterSchemas: ReadonlyMap<string, () => z.ZodType<AdvancedFilter>> = new Map(
  Object.entries(operands).map(([operatorType, operand]) => [
    operatorType.toLowerCase(),
    () => z.strictObject({ operatorType: z.unknown().transform(() => operatorType), key, ...operand() }),
  ]),
)

/**
 * Advanced filters as JSON, in ARM's spelling (Event Grid: event-filtering). Operators match without regard to case and
 * come out as ARM spells them.
 *
 * @throws BrokenRule that says which filter is wrong and how
 */
export function parseAdvancedFilters(json: string): readonly AdvancedFilter[] {
  const list = readJson(json)
  if (!Array.isArray(list)) throw new BrokenRule('must be a JSON array of filters')
  if (list.length === 0) throw new BrokenRule('must hold at least one filter', 'write default to have none')
  if (list.length > maxFilters) throw new BrokenRule(`must hold at most ${maxFilters} filters`)
  const filters = list.map(parseFilter)
  const all = filters.flatMap(({ value, values = value === undefined ? [] : [value] }): readonly unknown[] => values)
  if (all.length > maxValues) throw new BrokenRule(`must hold at most ${maxValues} values in all filters together`)
  return filters
}

function parseFilter(filter: unknown, at: number): AdvancedFilter {
  const place = `[${at}]`
  const { operatorType } = isRecord(filter) ? filter : {}
  if (typeof operatorType !== 'string') throw new BrokenRule(`${place} must be an object with an operatorType`)
  const schemaOf = filterSchemas.get(operatorType.toLowerCase())
  if (!schemaOf) {
    const rule = `${place}.operatorType must be one of ${filterOperators.join(', ')}`
    throw new BrokenRule(rule, didYouMean(operatorType, filterOperators))
  }
  const parsed = schemaOf().safeParse(filter)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  const path = issue?.path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`)).join('') ?? ''
  // zod repeats an unknown key as it is.
  throw new BrokenRule(`${place}${path}: ${oneLine(issue?.message ?? '', 200)}`)
}
