// The schemas of events that a topic accepts.
export const inputSchemas = ['CloudEventSchemaV1_0', 'EventGridSchema', 'CustomEventSchema'] as const

export type InputSchema = (typeof inputSchemas)[number]
