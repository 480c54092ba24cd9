// Assertion that a value checked earlier is there; else a defect of ours.

/** A value that an earlier check made sure of, which the compiler cannot see. That it is missing is a defect of ours. */
export function checked<T>(name: string, value: T | undefined): T {
  if (value === undefined) throw new Error(`${name} is missing although it was checked`)
  return value
}
