// The operators of advanced filters, by the form of what they compare with, and what values each takes.
import { z } from 'zod'
import { byMember } from '../enumeration.ts'
import type { ReadonlyDeep } from '../readonly-deep.ts'

const stringOperators = [
  ...(['StringIn', 'StringNotIn', 'StringBeginsWith', 'StringNotBeginsWith'] as const),
  ...(['StringEndsWith', 'StringNotEndsWith', 'StringContains', 'StringNotContains'] as const),
] as const

const numberListOperators = ['NumberIn', 'NumberNotIn'] as const
const rangeOperators = ['NumberInRange', 'NumberNotInRange'] as const
const numberOperators = [
  ...(['NumberLessThan', 'NumberLessThanOrEquals'] as const),
  ...(['NumberGreaterThan', 'NumberGreaterThanOrEquals'] as const),
] as const
const keyOperators = ['IsNullOrUndefined', 'IsNotNull'] as const

export type StringOperator = (typeof stringOperators)[number]

/** The schema of an advanced filter. @param value a text to compare with @param minValues fewest items of a list */
export function advancedFilterSchema(value: z.ZodString, minValues: 0 | 1) {
  const key = z.string().min(1)
  const atLeast = <Item extends z.ZodType>(list: z.ZodArray<Item>) => list.min(minValues)
  return byMember(
    'operatorType',
    [
      ...numberListOperators,
      ...rangeOperators,
      ...numberOperators,
      ...stringOperators,
      ...['BoolEquals'],
      ...keyOperators,
    ],
    z.discriminatedUnion('operatorType', [
      z.object({ operatorType: z.enum(numberListOperators), key, values: atLeast(z.array(z.number())) }),
      z.object({
        operatorType: z.enum(rangeOperators),
        key,
        values: atLeast(z.array(z.tuple([z.number(), z.number()]))),
      }),
      z.object({ operatorType: z.enum(numberOperators), key, value: z.number() }),
      z.object({ operatorType: z.enum(stringOperators), key, values: atLeast(z.array(value)) }),
      z.object({ operatorType: z.literal('BoolEquals'), key, value: z.boolean() }),
      z.object({ operatorType: z.enum(keyOperators), key }),
    ]),
  )
}

/** One condition on a field of the event. */
export type AdvancedFilter = ReadonlyDeep<z.infer<ReturnType<typeof advancedFilterSchema>>>
