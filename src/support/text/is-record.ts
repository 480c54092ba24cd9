/** Whether a value is a plain object, neither null nor an array. */

/** An object whose own keys are plain data: a mapping of JSON or YAML. */
export type UnknownRecord = Readonly<Record<string, unknown>>

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
