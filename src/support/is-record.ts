/** An object whose own keys are plain data: whatever JSON or YAML may hold as a mapping. */
export type UnknownRecord = Readonly<Record<string, unknown>>

/** Is this an object, neither null nor an array? */
export const isRecord = (value: unknown): value is UnknownRecord =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
