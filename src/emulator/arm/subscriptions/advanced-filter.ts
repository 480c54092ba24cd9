// Advanced filters in a request body: the shape of each `operatorType`'s values.
import { z } from 'zod'
import { filterOperators } from '../../model/resources/model.ts'

/** The schema of an advanced filter. @param value a text to compare with @param minValues fewest items of a list */
export function advancedFilterSchema(value: z.ZodString, minValues: 0 | 1) {
  const key = z.string().min(1)
  const atLeast = <Item extends z.ZodType>(list: z.ZodArray<Item>) => list.min(minValues)
  return z.discriminatedUnion('operatorType', [
    z.object({ operatorType: z.enum(filterOperators.numbers), key, values: atLeast(z.array(z.number())) }),
    z.object({
      operatorType: z.enum(filterOperators.ranges),
      key,
      values: atLeast(z.array(z.tuple([z.number(), z.number()]))),
    }),
    z.object({ operatorType: z.enum(filterOperators.number), key, value: z.number() }),
    z.object({ operatorType: z.enum(filterOperators.strings), key, values: atLeast(z.array(value)) }),
    z.object({ operatorType: z.literal('BoolEquals'), key, value: z.boolean() }),
    z.object({ operatorType: z.enum(['IsNullOrUndefined', 'IsNotNull']), key }),
  ])
}
