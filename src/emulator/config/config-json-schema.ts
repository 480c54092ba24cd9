// JSON Schema (draft 7) of the configuration file, for editors.
import { z } from 'zod'
import { configSchema } from './config-schema.ts'

/**
 * The JSON Schema (draft 7) of the emulator's configuration file, for editors. It is made from the schema that the file
 * is checked against, without the rules that a JSON Schema can't say: names that refer to each other, certificates.
 */
export function configJsonSchema(): object {
  const schema = z.toJSONSchema(configSchema, {
    target: 'draft-7',
    override({ zodSchema, jsonSchema }) {
      if (zodSchema instanceof z.ZodPipe) allowName(jsonSchema)
      // zod's own format, which validators do not know. The pattern beside it says the same.
      if (jsonSchema.format === 'starts_with') delete jsonSchema.format
    },
  })
  return { ...schema, title: 'Configuration of eventgrid-binding emulate' }
}

/** A role may be written as its name alone: a pipe makes a mapping of it before it is checked. */
function allowName(role: z.core.JSONSchema.BaseSchema): void {
  const mapping = { ...role }
  for (const key of Object.keys(role)) delete role[key]
  role.anyOf = [{ type: 'string', minLength: 1 }, mapping]
}
