import { BindingError } from '../../src/core/errors.ts'

/** The BindingError that a call throws; fails where it throws none. */
export function thrownBy(call: () => unknown): BindingError {
  try {
    call()
  } catch (error) {
    if (error instanceof BindingError) return error
    throw error
  }
  throw new Error('nothing was thrown')
}
