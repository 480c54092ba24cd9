/** The JSON Schema of a schema of the interface, in the dialect of OpenAPI 3.1. */
import { z } from 'zod'

export function jsonSchemaOf(schema: z.ZodType): z.core.JSONSchema.BaseSchema {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema)
  return rest
}
