// Schema of `inputSchemaMapping`: which fields take `sourceField` and `defaultValue`.
import { z } from 'zod'
import { enumeration } from '../enumeration.ts'
import type { ReadonlyDeep } from '../readonly-deep.ts'

/** Makes an object schema: `z.object` leaves unknown members out, as Azure does, `z.strictObject` refuses them. */
type MakeObject = <Shape extends z.core.$ZodLooseShape>(shape: Shape) => z.ZodObject<Shape>

/** Where the Event Grid fields are in events of `CustomEventSchema`, in ARM's shape. */
export function inputSchemaMappingBy(object: MakeObject) {
  const text = z.exactOptional(z.string().min(1, 'must not be empty'))
  const source = z.exactOptional(object({ sourceField: text }))
  const mapped = z.exactOptional(object({ sourceField: text, defaultValue: text }))
  return object({
    inputSchemaMappingType: enumeration('Json'),
    properties: object({
      ...{ id: source, topic: source, eventTime: source },
      ...{ eventType: mapped, subject: mapped, dataVersion: mapped },
    }),
  })
}

/** How a `CustomEventSchema` topic finds the Event Grid fields, in ARM's shape. */
export type InputSchemaMapping = ReadonlyDeep<z.infer<ReturnType<typeof inputSchemaMappingBy>>>
