/** An object whose own keys are plain data: whatever JSON or YAML may hold as a mapping. */
export type UnknownRecord = Readonly<Record<string, unknown>>

export const isRecord = (value: unknown): value is UnknownRecord =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
